// How the fitted transform goes from elements to numbers and back (docs/codecs.md, "fitted").
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "codec/elements.h"

namespace forebay::codec {

// E: Elements of a floating-point type.
template <class E>
struct FittedArithmetic {
  using U = typename E::Unsigned;
  using F = std::conditional_t<sizeof(U) == sizeof(float), float, double>;
  static_assert(sizeof(U) == sizeof(F) && std::numeric_limits<F>::is_iec559);

  FOREBAY_KERNEL static double value(U integer) { return static_cast<double>(std::bit_cast<F>(E::map(integer))); }
  FOREBAY_KERNEL static double element(const std::byte* at) { return value(E::load(at)); }

  // The prediction as an integer; what is no finite number of the elements' type counts as 0.
  FOREBAY_KERNEL static U rounded(double prediction) {
    const bool is_finite = std::abs(prediction) <= static_cast<double>(std::numeric_limits<F>::max());
    return E::map(std::bit_cast<U>(static_cast<F>(is_finite ? prediction : 0.0)));
  }
};

}  // namespace forebay::codec
