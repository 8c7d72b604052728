#include "view/query/column.h"

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/with_type.h"

namespace forebay::view {
namespace {

// IEEE 754 binary16.
double half_to_double(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = 0;
  if (exponent == 31)
    value = fraction == 0 ? HUGE_VAL : std::nan("");
  else
    value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -value : value;
}

struct Half {
  uint16_t bits;
};

double widened(Half value) { return half_to_double(value.bits); }
double widened(float value) { return value; }
double widened(double value) { return value; }
template <std::signed_integral T>
int64_t widened(T value) {
  return value;
}
template <std::unsigned_integral T>
uint64_t widened(T value) {
  return value;
}

// Calls visit with an element of the type that `type` is.
template <class Visit>
auto with_element(const DataType& type, const Visit& visit) {
  return type.kind == Kind::floating && type.size == 2 ? visit(Half{}) : with_type(type, visit);
}

}  // namespace

Number Column::number(size_t i) const {
  return with_element(type, [&](auto value) -> Number {
    std::memcpy(&value, element(i), sizeof value);
    if constexpr (std::is_same_v<decltype(value), float>) return value;  // which prints shorter than the same double
    return widened(value);
  });
}

void compare(const Condition& condition, const Column& column, size_t begin, size_t count, uint8_t* out) {
  with_element(column.type, [&](auto value) {
    const std::byte* at = column.element(begin);
    const size_t step = column.repeated ? 0 : sizeof value;
    for (size_t i = 0; i < count; ++i, at += step) {
      std::memcpy(&value, at, sizeof value);
      out[i] = holds(condition, widened(value));
    }
  });
  if (column.holes == nullptr) return;
  std::vector<uint8_t> holes(column.repeated ? 1 : count);
  find_holes(*column.holes, column.type, std::span(column.element(begin), holes.size() * column.type.size),
             holes.data());
  for (size_t i = 0; i < count; ++i)
    if (holes[column.repeated ? 0 : i] != 0) out[i] = condition.comparison == Comparison::is_nan;
}

}  // namespace forebay::view
