#include "report/text.h"

#include <ctime>
#include <set>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/printable.h"

namespace forebay::report {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else
      out += c;
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
