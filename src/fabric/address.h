// Where a Forebay process can be reached.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace forebay::fabric {

// Written "tcp:HOST:PORT" (HOST a name, an IPv4 or a bracketed IPv6 address), "unix:PATH", or "unix:@NAME" for a name
// in Linux's abstract space, which has no file.
struct Address {
  enum class Kind : uint8_t { tcp, unix_socket };
  Kind kind = Kind::tcp;
  std::string host;   // tcp: as written, without brackets; "*" to listen on every interface
  uint16_t port = 0;  // tcp
  std::string path;   // unix_socket; begins with '@' if abstract
  bool operator==(const Address&) const = default;
};

// invalid_argument, with the rule that is broken, if `text` is not an address. A path has at most 107 bytes.
Result<Address> parse_address(std::string_view text);

// Addresses with commas between them: one server by all its addresses.
Result<std::vector<Address>> parse_addresses(std::string_view text);

std::string to_string(const Address& address);

// The ports of TCP that servers may take where their address leaves the port open, such as those that a firewall lets
// through. Both ends are part of it; from 0 to 0: any.
struct PortRange {
  uint16_t low = 0, high = 0;
  bool is_any() const { return low == 0; }
  bool operator==(const PortRange&) const = default;
};

// "LOW-HIGH", or one port; empty: any. invalid_argument if `text` is something else, or 0 is among them.
Result<PortRange> parse_ports(std::string_view text);

}  // namespace forebay::fabric
