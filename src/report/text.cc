#include "report/text.h"

#include <ctime>
#include <set>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace forebay::report {
namespace {

constexpr const char* kNoCharacter = "\xef\xbf\xbd";

// The bytes of the character that `text` begins with; 0 if it begins with none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const size_t length = lead >= 0xf0 && lead < 0xf5   ? 4
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                                                      : 0;
  if (length == 0 || text.size() < length) return 0;
  uint32_t value = lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xd800 && value < 0xe000;
  return value < kLeast[length] || is_surrogate || value > 0x10ffff ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0)
      out += kNoCharacter;
    else if (text[0] == '&')
      out += "&amp;";
    else if (text[0] == '<')
      out += "&lt;";
    else if (text[0] == '>')
      out += "&gt;";
    else if (text[0] == '"')
      out += "&quot;";
    else if (text[0] == '\'')
      out += "&#39;";
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

std::pair<const char*, double> byte_unit(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double unit = 1;
  size_t number = 0;
  for (; static_cast<double>(bytes) / unit >= 1024 && number + 1 < std::size(kUnits); ++number) unit *= 1024;
  return {kUnits[number], unit};
}

std::string bytes_text(uint64_t bytes) {
  const auto [name, unit] = byte_unit(bytes);
  return unit == 1 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", static_cast<double>(bytes) / unit, name);
}

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

std::vector<std::string> short_numbers(std::span<const double> values) {
  constexpr int kFewest = 3, kMost = 17;
  std::vector<std::string> texts;
  for (int digits = kFewest; digits <= kMost; ++digits) {
    texts.clear();
    for (const double value : values) texts.push_back(fmt::format("{:.{}g}", value, digits));
    const std::set<std::string> distinct(texts.begin(), texts.end());
    if (distinct.size() == std::set<double>(values.begin(), values.end()).size()) break;
  }
  return texts;
}

std::string time_text(int64_t nanoseconds) {
  const std::time_t seconds = nanoseconds / 1'000'000'000;
  std::tm broken{};
  if (::gmtime_r(&seconds, &broken) == nullptr) return "?";
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", broken);
}

}  // namespace forebay::report
