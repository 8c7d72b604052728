#include "codec/text/decimal.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>

namespace forebay::codec::text {
namespace {

constexpr unsigned kMostScanned = 18;  // digits of a Decimal
constexpr int kGeneralLowest = -4;     // below which C's %g prints an exponent
constexpr int64_t kMostKey = INT64_C(1) << 62;

constexpr auto kPowers = [] {
  std::array<uint64_t, kMostScanned + 2> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

constexpr int kMostScale = 300;

// Powers of ten in double precision, each rounded correctly.
const std::array<double, kMostScale + 1>& scales() {
  static const auto all = [] {
    std::array<double, kMostScale + 1> powers{};
    for (int i = 0; i <= kMostScale; ++i) {
      const std::string text = "1e" + std::to_string(i);
      std::from_chars(text.data(), text.data() + text.size(), powers[static_cast<size_t>(i)]);
    }
    return powers;
  }();
  return all;
}

// value * 10^power, rounded once.
double scaled(double value, int power) {
  if (power >= 0) return value * scales()[static_cast<size_t>(std::min(power, kMostScale))];
  return power < -kMostScale ? 0 : value / scales()[static_cast<size_t>(-power)];
}

// The exponent at `p`, if one stands there that is printed so: e-05, E+00, e+123.
const char* scan_exponent(const char* p, const char* end, Decimal& number) {
  if (end - p < 4 || (*p != 'e' && *p != 'E') || (p[1] != '-' && p[1] != '+') || !is_digit(p[2]) || !is_digit(p[3]))
    return p;
  int value = (p[2] - '0') * 10 + (p[3] - '0');
  const char* rest = p + 4;
  if (rest != end && is_digit(*rest)) {
    if (p[2] == '0') return nullptr;
    value = value * 10 + (*rest++ - '0');
    if (rest != end && is_digit(*rest)) return nullptr;
  }
  if (value == 0 && p[1] == '-') return nullptr;
  number.exponent = static_cast<int16_t>(p[1] == '-' ? -value : value);
  number.has_exponent = true;
  number.is_upper = *p == 'E';
  return rest;
}

// The digits at `p`, added to the number's; null if there are too many of them.
const char* scan_digits(const char* p, const char* end, uint64_t& digits) {
  for (; p != end && is_digit(*p); ++p) {
    if (digits >= kPowers[kMostScanned - 1]) return nullptr;
    digits = digits * 10 + static_cast<uint64_t>(*p - '0');
  }
  return p;
}

// Of scientific, fraction and general numbers other than zero, their sign apart.
struct Parts {
  uint64_t mantissa;  // of format.digits digits, the first of which is not zero
  int exponent;       // of the first digit
};

uint64_t keys_per_exponent(unsigned digits) { return 9 * kPowers[digits - 1]; }

Parts split(uint64_t magnitude, const Format& format) {
  const uint64_t place = magnitude - 1, keys = keys_per_exponent(format.digits);
  const uint64_t steps = place / keys;
  return {place - steps * keys + kPowers[format.digits - 1],
          format.lowest + static_cast<int>(std::min<uint64_t>(steps, kMostExponent))};
}

uint64_t join(const Parts& parts, const Format& format) {
  return 1 + static_cast<uint64_t>(parts.exponent - format.lowest) * keys_per_exponent(format.digits) + parts.mantissa -
         kPowers[format.digits - 1];
}

uint64_t magnitude_of(int64_t key) { return static_cast<uint64_t>(key < 0 ? -(key + 1) : key); }
int64_t with_sign(uint64_t magnitude, bool is_negative) {
  return is_negative ? -static_cast<int64_t>(magnitude) - 1 : static_cast<int64_t>(magnitude);
}

bool prints_exponent(int exponent, unsigned digits) {
  return exponent < kGeneralLowest || exponent >= static_cast<int>(digits);
}

// Whether zero is printed like this.
bool is_plain_zero(const Decimal& number, const Format& format) {
  if (format.notation == Notation::general) return !number.has_exponent && number.decimals == 0;
  const unsigned decimals = format.notation == Notation::fraction ? format.digits : format.digits - 1u;
  return number.has_exponent && number.exponent == 0 && number.decimals == decimals;
}

// The mantissa of a number other than zero that is printed by the format; none if the format prints it otherwise.
std::optional<uint64_t> mantissa_of(const Decimal& number, const Format& format, int exponent) {
  const unsigned count = digit_count(number.digits), digits = format.digits;
  if (count > digits) return std::nullopt;
  if (format.notation != Notation::general) {
    const bool is_fraction = format.notation == Notation::fraction;
    const bool matches = number.has_exponent && count == digits && number.starts_with_zero == is_fraction &&
                         number.decimals == (is_fraction ? digits : digits - 1);
    return matches ? std::optional(number.digits) : std::nullopt;
  }
  const bool has_exponent = prints_exponent(exponent, digits);
  if (has_exponent != number.has_exponent || (number.decimals != 0 && number.digits % 10 == 0)) return std::nullopt;
  if (has_exponent && count != number.decimals + 1u) return std::nullopt;
  return number.digits * kPowers[digits - count];
}

char* print_digits(uint64_t value, char* out) { return std::to_chars(out, out + kMostScanned + 2, value).ptr; }

// Puts a point in front of the last `decimals` of the digits in [first, end).
char* insert_point(char* first, char* end, unsigned decimals) {
  char* const point = end - decimals;
  if (point < first) return end;
  std::memmove(point + 1, point, decimals);
  *point = '.';
  return end + 1;
}

char* print_fixed(uint64_t magnitude, unsigned decimals, char* out) {
  char* const first = out;
  const unsigned digits = std::max(digit_count(magnitude), 1u);
  if (digits <= decimals) out = std::fill_n(out, decimals + 1 - digits, '0');
  char* const end = print_digits(magnitude, out);
  return decimals == 0 ? end : insert_point(first, end, decimals);
}

char* print_exponent(int exponent, bool is_upper, char* out) {
  *out++ = is_upper ? 'E' : 'e';
  *out++ = exponent < 0 ? '-' : '+';
  const auto value = static_cast<unsigned>(std::abs(exponent));
  if (value < 10) *out++ = '0';
  return print_digits(value, out);
}

// `count` digits with a point behind the first one, or in front of it.
char* print_scientific(uint64_t mantissa, unsigned count, int exponent, const Format& format, char* out) {
  const bool is_fraction = format.notation == Notation::fraction;
  if (is_fraction) *out++ = '0';
  char* const first = is_fraction ? out - 1 : out;
  char* end = out;
  if (mantissa == 0)
    end = std::fill_n(out, count, '0');
  else
    end = print_digits(mantissa, out);
  const unsigned decimals = is_fraction ? count : count - 1;
  if (decimals != 0) end = insert_point(first, end, decimals);
  return print_exponent(mantissa != 0 && is_fraction ? exponent + 1 : exponent, format.is_upper, end);
}

char* print_general(Parts parts, const Format& format, char* out) {
  unsigned count = format.digits;
  for (; parts.mantissa % 10 == 0 && count > 1; --count) parts.mantissa /= 10;
  if (prints_exponent(parts.exponent, format.digits))
    return print_scientific(parts.mantissa, count, parts.exponent, format, out);
  const int decimals = static_cast<int>(count) - 1 - parts.exponent;
  if (decimals > 0) return print_fixed(parts.mantissa, static_cast<unsigned>(decimals), out);
  return print_digits(parts.mantissa * kPowers[static_cast<size_t>(-decimals)], out);
}

}  // namespace

unsigned digit_count(uint64_t value) {
  constexpr unsigned kNumerator = 1233, kShift = 12;  // of log10(2)
  if (value == 0) return 0;
  const unsigned guess = static_cast<unsigned>(std::bit_width(value)) * kNumerator >> kShift;
  return guess + (value >= kPowers[guess] ? 1 : 0);
}

std::optional<Decimal> scan(const char* begin, const char* end) {
  Decimal number;
  const char* p = begin;
  if (p != end && *p == '-') {
    number.is_negative = true;
    ++p;
  }
  const char* const first = p;
  p = scan_digits(p, end, number.digits);
  if (p == nullptr || p == first || (p - first > 1 && *first == '0')) return std::nullopt;
  number.starts_with_zero = *first == '0';
  if (end - p > 1 && *p == '.' && is_digit(p[1])) {
    const char* const decimals = p + 1;
    p = scan_digits(decimals, end, number.digits);
    if (p == nullptr || p - decimals > kMostDecimals) return std::nullopt;
    number.decimals = static_cast<uint8_t>(p - decimals);
  }
  p = scan_exponent(p, end, number);
  if (p == nullptr) return std::nullopt;
  number.characters = static_cast<uint8_t>(p - begin);
  return number;
}

int exponent_span(unsigned digits) {
  return static_cast<int>(
      std::min<int64_t>(kMostKey / static_cast<int64_t>(keys_per_exponent(digits)) - 1, kMostExponent));
}

int first_exponent(const Decimal& number) {
  if (number.digits == 0) return 0;
  return static_cast<int>(digit_count(number.digits)) - 1 - number.decimals + number.exponent;
}

bool is_valid(const Format& format) {
  if (format.notation == Notation::integer) return format.digits == 0;
  if (format.notation == Notation::fixed) return format.digits >= 1 && format.digits <= kMostDecimals;
  return static_cast<uint8_t>(format.notation) < kNotations && format.digits >= 1 && format.digits <= kMostDigits &&
         format.lowest >= kLeastExponent && format.lowest <= kMostExponent;
}

std::optional<int64_t> key_of(const Decimal& number, const Format& format) {
  if (!format.has_exponents()) {
    if (number.has_exponent || number.decimals != format.digits) return std::nullopt;
    return with_sign(number.digits, number.is_negative);
  }
  if (number.has_exponent && number.is_upper != format.is_upper) return std::nullopt;
  if (number.digits == 0) {
    if (!is_plain_zero(number, format)) return std::nullopt;
    return with_sign(0, number.is_negative);
  }
  const int exponent = first_exponent(number);
  if (exponent < format.lowest || exponent - format.lowest >= exponent_span(format.digits)) return std::nullopt;
  const auto mantissa = mantissa_of(number, format, exponent);
  if (!mantissa) return std::nullopt;
  return with_sign(join({*mantissa, exponent}, format), number.is_negative);
}

char* print(int64_t key, const Format& format, char* out) {
  if (key < 0) *out++ = '-';
  const uint64_t magnitude = magnitude_of(key);
  if (!format.has_exponents()) return print_fixed(magnitude, format.digits, out);
  const Parts parts = magnitude == 0 ? Parts{0, 0} : split(magnitude, format);
  if (format.notation != Notation::general)
    return print_scientific(parts.mantissa, format.digits, parts.exponent, format, out);
  if (magnitude == 0) {
    *out++ = '0';
    return out;
  }
  return print_general(parts, format, out);
}

double value_of(int64_t key, const Format& format) {
  const uint64_t magnitude = magnitude_of(key);
  if (magnitude == 0) return 0;
  const Parts parts = split(magnitude, format);
  const double value = scaled(static_cast<double>(parts.mantissa), parts.exponent - format.digits + 1);
  return key < 0 ? -value : value;
}

int64_t nearest_key(double value, const Format& format) {
  constexpr double kMostValue = 1e299;
  constexpr int kBias = 1023, kMantissaBits = 52, kNumerator = 19729, kShift = 16;  // the latter of log10(2)
  const double magnitude = std::abs(value);
  if (!(magnitude > 0 && magnitude < kMostValue)) return 0;
  const bool is_negative = value < 0;
  const int power = static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> kMantissaBits) - kBias;
  const uint64_t least = kPowers[format.digits - 1u], beyond = kPowers[format.digits];
  for (int exponent = power * kNumerator >> kShift;; ++exponent) {
    if (exponent < format.lowest) {
      if (exponent + 2 < format.lowest) return with_sign(0, is_negative);
      continue;
    }
    if (exponent - format.lowest >= exponent_span(format.digits)) return with_sign(0, is_negative);
    const auto mantissa = static_cast<uint64_t>(scaled(magnitude, format.digits - 1 - exponent) + 0.5);
    if (mantissa < beyond) return with_sign(join({std::max(mantissa, least), exponent}, format), is_negative);
  }
}

}  // namespace forebay::codec::text
