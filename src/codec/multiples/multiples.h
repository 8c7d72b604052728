// Floating-point elements as whole multiples of a base: decimals (1.25 is 125 over 100), ticks (0.3 is 3 times 0.1) and
// integers that are kept as floating-point numbers. The idea is that of pcodec's modes (M. Loncaric, "pcodec", 2023):
// what looks like 52 random bits is a small integer. Pure.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/datatype.h"
#include "base/error.h"
#include "codec/multiples/multiples_values.h"

namespace forebay::codec {

// What elements are multiples of.
struct Base {
  bool is_divisor = false;  // an element is m / value, else m * value, in double precision, then rounded to its type
  double value = 1;         // finite, above 0
};

// The parameters of the codec, as docs/codecs.md describes them.
struct Multiples {
  static constexpr size_t kMostSpecials = 8;

  Base base;
  int64_t lowest = 0;              // of the multiples
  std::vector<uint64_t> specials;  // bits of elements that are no multiples and come often: holes
  struct Exception {
    uint64_t index;  // in ascending order
    uint64_t bits;
  };
  std::vector<Exception> exceptions;  // other elements that are no multiples
};

Bytes encode_multiples(const Multiples& multiples, size_t width);

// corrupt if `parameters`, which are hostile, are malformed, or name an element beyond `count`.
Result<Multiples> decode_multiples(std::span<const std::byte> parameters, size_t width, uint64_t count);

// The multiple of `base` that `element`, of type F, is to the last bit; none if it is not one, or one of 2^51 or more.
template <class F>
std::optional<int64_t> multiple_of(const Base& base, F element);
inline constexpr double kMostMultiple = 0x1p51;

// The element of type F that is the multiple `m` of `base`.
template <class F>
F element_of(const Base& base, int64_t m) {
  const auto multiple = static_cast<double>(m);
  return static_cast<F>(base.is_divisor ? multiple / base.value : multiple * base.value);
}

template <class F>
std::optional<int64_t> multiple_of(const Base& base, F element) {
  constexpr double kUnits = 0x1.8p52;  // what is added to it is rounded to a whole number
  const auto value = static_cast<double>(element);
  const double m = base.is_divisor ? value * base.value : value / base.value;
  if (!(std::abs(m) < kMostMultiple)) return std::nullopt;
  const auto whole = static_cast<int64_t>((m + kUnits) - kUnits);
  if (bits_of(element_of<F>(base, whole)) != bits_of(element)) return std::nullopt;
  return whole;
}

// The base of which nearly all elements of `sample` are multiples: of a decimal fraction, or of what their differences
// have in common. None if there is none.
template <class F>
std::optional<Base> find_base(std::span<const F> sample);

// The elements of a frame that a base is looked for in: at most 512 from all over it.
template <class F>
std::vector<F> sample_of(std::span<const std::byte> raw, const DataType& type);

// The parameters that suit the frame `raw` of elements of `type` (4 or 8 bytes, floating); none if it does not consist
// of multiples.
std::optional<Multiples> fit_multiples(std::span<const std::byte> raw, const DataType& type);

// Whether a frame's sample consists of multiples: what fit_multiples() asks first, and quick.
bool may_be_multiples(std::span<const std::byte> raw, const DataType& type);

}  // namespace forebay::codec
