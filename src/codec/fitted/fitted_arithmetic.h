// How the fitted transform goes from numbers back to elements (docs/codecs.md, "fitted").
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "codec/elements.h"

namespace forebay::codec {

// E: Elements of a floating-point type.
template <class E>
struct FittedArithmetic : FloatValues<E> {
  using typename FloatValues<E>::U;
  using typename FloatValues<E>::F;

  // The prediction as an integer; what is no finite number of the elements' type counts as 0.
  FOREBAY_KERNEL static U rounded(double prediction) {
    const bool is_finite = std::abs(prediction) <= static_cast<double>(std::numeric_limits<F>::max());
    return E::map(std::bit_cast<U>(static_cast<F>(is_finite ? prediction : 0.0)));
  }
};

}  // namespace forebay::codec
