// Numbers as programs print them: scanned, turned into ordered integers ("keys") by the format of their column, and
// printed again. A key is exact, so that a number comes back to the last character, and numbers that are close have
// keys that are. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace forebay::codec::text {

constexpr bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// A number in a text. Its value is digits * 10^(exponent - decimals), with the sign of is_negative.
struct Decimal {
  uint64_t digits = 0;     // all of them, without the point: below 10^18
  int16_t exponent = 0;    // as written behind the letter e
  uint16_t blanks = 0;     // in front of it; scan() starts behind them
  uint8_t decimals = 0;    // digits behind the point, at most kMostDecimals
  uint8_t characters = 0;  // that the number takes
  bool is_negative : 1 = false;
  bool has_exponent : 1 = false;
  bool is_upper : 1 = false;          // the letter is E
  bool starts_with_zero : 1 = false;  // before the point
};
static_assert(sizeof(Decimal) == 16);  // a text has many of them

inline constexpr unsigned kMostDecimals = 40;
inline constexpr unsigned kMostDigits = 17;    // that a key holds of scientific and general numbers
inline constexpr size_t kMostCharacters = 64;  // that print() writes
inline constexpr int kLeastExponent = -400, kMostExponent = 1000;

// The number that [begin, end) starts with: a minus sign or none, digits, a point with digits or none, and an exponent
// with a sign and two or three digits or none. None if there is none, or one that cannot be printed alike: with zeros
// in front, or with more digits than a Decimal holds.
std::optional<Decimal> scan(const char* begin, const char* end);

enum class Notation : uint8_t {
  integer,     // 12
  fixed,       // 0.120, with as many digits behind the point in each number
  scientific,  // 1.20e-01, likewise
  fraction,    // 0.120E+00, likewise, as Fortran's E prints
  general,     // 0.12, 1.2e-05, 12: without zeros at the end, with an exponent below 1e-4 and beyond the digits
};
inline constexpr uint8_t kNotations = 5;

// How the numbers of a column are printed, but for what is around them.
struct Format {
  Notation notation = Notation::integer;
  uint8_t digits = 0;     // fixed: behind the point, up to kMostDecimals; scientific, fraction and general: significant
                          // ones, 1 to kMostDigits; integer: 0
  bool is_upper = false;  // the letter of exponents is E
  int16_t lowest = 0;     // scientific, fraction and general: the least exponent of a first digit that keys reach

  bool operator==(const Format&) const = default;
  bool has_exponents() const { return notation >= Notation::scientific; }
};

// Whether the format is one that keys exist for: what a decoder asks of one that it has read.
bool is_valid(const Format& format);

// The most exponents from `lowest` on that keys of that many significant digits reach.
int exponent_span(unsigned digits);

// The exponent of the first digit; 0 of zero.
int first_exponent(const Decimal& number);

// The key of a number, if print() of it gives these characters.
std::optional<int64_t> key_of(const Decimal& number, const Format& format);

// Writes the number with that key, which may be any, and returns the end; `out` has kMostCharacters of room.
char* print(int64_t key, const Format& format, char* out);

// The value of a key in a format that has_exponents(), rounded; and the key whose value is close to `value`, which may
// be any: 0 if there is none. Both give the same bits on every machine.
double value_of(int64_t key, const Format& format);
int64_t nearest_key(double value, const Format& format);

// The number of decimal digits of `value`; 0 has none.
unsigned digit_count(uint64_t value);

}  // namespace forebay::codec::text
