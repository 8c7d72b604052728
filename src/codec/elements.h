// Elements as integers in the order of their values, whose differences are small, and as floating-point values.
#pragma once

#include <bit>
#include <cfloat>
#include <limits>
#include <type_traits>

#include "base/bytes.h"
#include "codec/simd.h"

namespace forebay::codec {

// How elements become integers whose differences are small, and back.
template <class U, bool kFloat, bool kBigEndian>
struct Elements {
  using Unsigned = U;
  using Signed = std::make_signed_t<U>;
  static constexpr int kTopBit = sizeof(U) * 8 - 1;

  // IEEE floats in the order of their values: the other bits of negative numbers flipped. Its own inverse.
  FOREBAY_KERNEL static U map(U bits) {
    if constexpr (!kFloat) return bits;
    return static_cast<U>(bits ^ (static_cast<U>(static_cast<Signed>(bits) >> kTopBit) >> 1));
  }
  FOREBAY_KERNEL static U load(const std::byte* from) {
    if constexpr (kBigEndian) return map(load_be<U>(from));
    return map(load_le<U>(from));
  }
  // Turns the integer at `at` into the element.
  FOREBAY_KERNEL static void unmap(std::byte* at) {
    U bits = map(load_le<U>(at));
    if constexpr (kBigEndian) bits = std::byteswap(bits);
    store_le(at, bits);
  }
  FOREBAY_KERNEL static U zigzag(U difference) {
    return static_cast<U>(static_cast<U>(difference << 1) ^ static_cast<U>(static_cast<Signed>(difference) >> kTopBit));
  }
  FOREBAY_KERNEL static U unzigzag(U residual) {
    return static_cast<U>(static_cast<U>(residual >> 1) ^ static_cast<U>(0 - (residual & 1)));
  }
};

// Floating-point elements as doubles, which hold them exactly. E: Elements of a floating-point type.
template <class E>
struct FloatValues {
  using U = typename E::Unsigned;
  using F = std::conditional_t<sizeof(U) == sizeof(float), float, double>;
  static_assert(sizeof(U) == sizeof(F) && std::numeric_limits<F>::is_iec559);
  static_assert(FLT_EVAL_METHOD == 0, "predictions must be rounded alike on all machines");

  FOREBAY_KERNEL static double value(U integer) { return static_cast<double>(std::bit_cast<F>(E::map(integer))); }
  FOREBAY_KERNEL static double element(const std::byte* at) { return value(E::load(at)); }
};

}  // namespace forebay::codec
