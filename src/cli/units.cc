#include "cli/units.h"

#include <charconv>
#include <cmath>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace forebay::cli {

template <class T>
static Result<T> parse_whole(std::string_view text, const char* wanted) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not {}", text, wanted));
  return value;
}

Result<uint64_t> parse_count(std::string_view text) { return parse_whole<uint64_t>(text, "a whole number"); }
Result<int64_t> parse_integer(std::string_view text) { return parse_whole<int64_t>(text, "a whole number"); }

Result<double> parse_positive(std::string_view text) {
  FOREBAY_TRY(const double value, parse_whole<double>(text, "a number"));
  if (!std::isfinite(value) || value <= 0)
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not above 0", text));
  return value;
}

static constexpr double kLeastRatio = 0.01;  // below that it says nothing but that there is hardly any content

static std::string_view without_suffix(std::string_view text) {
  for (const std::string_view suffix : {"iB", "B"})
    if (text.size() > suffix.size() && text.ends_with(suffix)) return text.substr(0, text.size() - suffix.size());
  return text;
}

struct BytesText {
  std::string_view digits;
  unsigned shift = 0;  // by which to shift them
};

static BytesText split_bytes(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  std::string_view digits = without_suffix(text);
  if (digits.empty()) return {};
  const char last = digits.back() == 'k' ? 'K' : digits.back();
  if (const size_t unit = kUnits.find(last); unit != kUnits.npos)
    return {digits.substr(0, digits.size() - 1), 10 * (static_cast<unsigned>(unit) + 1)};
  if (text.ends_with("iB")) return {};
  return {digits};
}

Result<uint64_t> parse_bytes(std::string_view text) {
  constexpr const char* kWanted = "a number of bytes, such as 65536, 64K, 128M or 2G";
  const auto [digits, shift] = split_bytes(text);
  const auto value = parse_whole<uint64_t>(digits, kWanted);
  if (!value) return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not {}", text, kWanted));
  if (shift > 0 && *value >> (64 - shift) != 0)
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is too large", text));
  return *value << shift;
}

Result<double> parse_amount(std::string_view text) {
  const auto [digits, shift] = split_bytes(text);
  const auto value = parse_positive(digits);
  if (!value) return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not a size above 0, such as 2.4G", text));
  return *value * static_cast<double>(uint64_t{1} << shift);
}

Result<double> parse_duration(std::string_view text) {
  constexpr std::pair<char, double> kUnits[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  std::string_view digits = text;
  double factor = 1;
  for (const auto& [unit, seconds] : kUnits)
    if (text.ends_with(unit)) {
      digits.remove_suffix(1);
      factor = seconds;
    }
  const auto value = parse_positive(digits);
  if (!value) return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not a time above 0, such as 250s", text));
  return *value * factor;
}

std::string format_ratio(double raw, double stored) {
  if (!(raw > 0) || !(stored > 0)) return "-";
  const double ratio = raw / stored;
  return ratio < kLeastRatio ? fmt::format("<{}", kLeastRatio) : fmt::format("{:.2f}", ratio);
}

std::string format_share(double part, double whole) {
  if (!(whole > 0)) return "of no content";
  if (part > whole) return "more than the content";
  return fmt::format("{:.2f} % of the content", 100 * part / whole);
}

std::string format_duration(double seconds) {
  if (!(seconds >= 0)) return "-";
  if (seconds < 59.995) return fmt::format("{:.2f} s", seconds);
  const double most = 359'999'999;  // what is longer is not an estimate any more
  const auto whole = static_cast<uint64_t>(std::fmin(std::round(seconds), most));
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string format_rate(uint64_t bytes, double seconds) {
  if (!(seconds > 0)) return "-";
  return fmt::format("{:.1f} MB/s", static_cast<double>(bytes) / 1e6 / seconds);
}

std::string format_number(double value) { return fmt::format("{:.6g}", value); }

std::string format_local_time(int64_t seconds) {
  const time_t time = seconds;
  tm parts{};
  if (!localtime_r(&time, &parts)) return "-";
  char text[64];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

std::string format_utc_time(int64_t seconds, uint32_t nanoseconds) {
  const time_t time = seconds;
  tm parts{};
  if (!gmtime_r(&time, &parts)) return "-";
  char text[64];
  const std::string whole(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts));
  return fmt::format("{}.{:09}Z", whole, nanoseconds);
}

std::string format_shape(std::span<const uint64_t> shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

std::string plural(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string format_mode(uint32_t mode) {
  std::string text = "rwxrwxrwx";
  for (unsigned bit = 0; bit < 9; ++bit)
    if (!(mode >> (8 - bit) & 1)) text[bit] = '-';
  if (mode & 04000) text[2] = text[2] == 'x' ? 's' : 'S';
  if (mode & 02000) text[5] = text[5] == 'x' ? 's' : 'S';
  if (mode & 01000) text[8] = text[8] == 'x' ? 't' : 'T';
  return text;
}

}  // namespace forebay::cli
