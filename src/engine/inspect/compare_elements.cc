#include "engine/inspect/compare_elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>

#include "base/bytes.h"

namespace forebay::engine {
namespace {

// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits.
double half_value(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  double magnitude;
  if (exponent == 31) {
    magnitude = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(fraction + 1024, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

template <std::unsigned_integral Bits>
double float_value(Bits bits) {
  if constexpr (sizeof(Bits) == 2) return half_value(bits);
  if constexpr (sizeof(Bits) == 4) return std::bit_cast<float>(bits);
  if constexpr (sizeof(Bits) == 8) return std::bit_cast<double>(bits);
  return 0;
}

template <std::unsigned_integral Bits>
double integer_difference(Kind kind, Bits a, Bits b) {
  // Integers are subtracted as unsigned ones, which is exact whatever their sign.
  using Signed = std::make_signed_t<Bits>;
  const bool less = kind == Kind::signed_int ? static_cast<Signed>(a) < static_cast<Signed>(b) : a < b;
  return static_cast<double>(static_cast<Bits>(less ? b - a : a - b));
}

void add_difference(double difference, ElementDifference& result) {
  ++result.measured;
  result.max_absolute = std::max(result.max_absolute, std::min(difference, std::numeric_limits<double>::max()));
}

void add_floats(double a, double b, ElementDifference& result) {
  if (std::isnan(a) || std::isnan(b))
    ++result.nans;
  else if (std::isinf(a) || std::isinf(b))
    ++result.infinities;
  else
    add_difference(std::abs(a - b), result);
}

template <std::unsigned_integral Bits>
ElementDifference compare_numbers(const DataType& type, std::span<const std::byte> a, std::span<const std::byte> b) {
  ElementDifference result;
  const auto load = type.order == ByteOrder::big ? load_be<Bits> : load_le<Bits>;
  for (size_t i = 0; i < a.size(); i += sizeof(Bits)) {
    const Bits x = load(a.data() + i), y = load(b.data() + i);
    if (x == y) continue;
    ++result.elements;
    if (type.kind == Kind::floating)
      add_floats(float_value(x), float_value(y), result);
    else
      add_difference(integer_difference(type.kind, x, y), result);
  }
  return result;
}

}  // namespace

void ElementDifference::merge(const ElementDifference& other) {
  elements += other.elements;
  nans += other.nans;
  infinities += other.infinities;
  measured += other.measured;
  max_absolute = std::max(max_absolute, other.max_absolute);
}

ElementDifference compare_elements(const DataType& type, std::span<const std::byte> a, std::span<const std::byte> b) {
  if (std::ranges::equal(a, b)) return {};
  if (type.is_number()) {
    if (type.size == 1) return compare_numbers<uint8_t>(type, a, b);
    if (type.size == 2) return compare_numbers<uint16_t>(type, a, b);
    if (type.size == 4) return compare_numbers<uint32_t>(type, a, b);
    if (type.size == 8) return compare_numbers<uint64_t>(type, a, b);
  }
  ElementDifference result;
  for (size_t i = 0; i < a.size(); i += type.size)
    if (std::memcmp(a.data() + i, b.data() + i, type.size) != 0) ++result.elements;
  return result;
}

}  // namespace forebay::engine
