#include "fabric/address.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace forebay::fabric {
namespace {

constexpr size_t kMaxPathBytes = 107;  // of sockaddr_un, with a byte for the terminator or for the leading zero
constexpr size_t kMaxHostBytes = 255;

std::unexpected<Error> refuse(std::string_view text, std::string_view rule) {
  return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not an address: {}", text, rule), {}, {},
              "write tcp:HOST:PORT or unix:PATH");
}

bool has_control_characters(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
  return false;
}

std::optional<uint16_t> parse_port(std::string_view digits) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return port;
}

Result<Address> parse_tcp(std::string_view text, std::string_view rest) {
  const size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return refuse(text, "the port is missing");
  std::string_view host = rest.substr(0, colon);
  const std::string_view digits = rest.substr(colon + 1);
  if (host.starts_with('[')) {
    if (!host.ends_with(']')) return refuse(text, "a bracket is not closed");
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return refuse(text, "an IPv6 address goes in brackets");
  }
  if (host.empty()) return refuse(text, "the host is missing");
  if (host.size() > kMaxHostBytes) return refuse(text, "the host is longer than 255 bytes");
  if (host.find_first_of(" ,;[]") != std::string_view::npos || has_control_characters(host))
    return refuse(text, "the host has a character that no host has");
  const auto port = parse_port(digits);
  if (!port) return refuse(text, "the port is not a number up to 65535");
  return Address{Address::Kind::tcp, std::string(host), *port, {}};
}

Result<Address> parse_unix(std::string_view text, std::string_view path) {
  if (path.empty() || path == "@") return refuse(text, "the path is missing");
  if (path.size() > kMaxPathBytes) return refuse(text, "a path has at most 107 bytes");
  if (path.find_first_of(",;") != std::string_view::npos || has_control_characters(path))
    return refuse(text, "a path has neither commas, semicolons nor control characters");
  return Address{Address::Kind::unix_socket, {}, 0, std::string(path)};
}

}  // namespace

Result<Address> parse_address(std::string_view text) {
  if (text.starts_with("tcp:")) return parse_tcp(text, text.substr(4));
  if (text.starts_with("unix:")) return parse_unix(text, text.substr(5));
  return refuse(text, "it begins with neither tcp: nor unix:");
}

Result<std::vector<Address>> parse_addresses(std::string_view text) {
  std::vector<Address> addresses;
  for (;;) {
    const size_t comma = text.find(',');
    FOREBAY_TRY(Address address, parse_address(text.substr(0, comma)));
    addresses.push_back(std::move(address));
    if (comma == std::string_view::npos) return addresses;
    text.remove_prefix(comma + 1);
  }
}

Result<PortRange> parse_ports(std::string_view text) {
  if (text.empty()) return PortRange{};
  const size_t dash = text.find('-');
  const auto low = parse_port(text.substr(0, dash));
  const auto high = dash == std::string_view::npos ? low : parse_port(text.substr(dash + 1));
  if (!low || !high || *low == 0 || *low > *high)
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no range of ports", text), {}, {},
                "write LOW-HIGH, such as 40000-40099");
  return PortRange{*low, *high};
}

std::string to_string(const Address& address) {
  if (address.kind == Address::Kind::unix_socket) return "unix:" + address.path;
  if (address.host.find(':') != std::string::npos) return fmt::format("tcp:[{}]:{}", address.host, address.port);
  return fmt::format("tcp:{}:{}", address.host, address.port);
}

}  // namespace forebay::fabric
