// Numbers of any type as vectors of doubles, in the compilers' own vectors, which they spell in whatever instructions
// they may use. Vectors are passed by reference: how they are returned depends on the instruction set.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/datatype.h"

#define FOREBAY_INLINE inline __attribute__((always_inline))

namespace forebay::container {

enum class InstructionSet : uint8_t { baseline, avx2 };

inline InstructionSet machine_instruction_set() {
#if defined(__x86_64__)
  static const bool kHasAvx2 = __builtin_cpu_supports("avx2");
  return kHasAvx2 ? InstructionSet::avx2 : InstructionSet::baseline;
#else
  return InstructionSet::baseline;
#endif
}

template <class T, size_t kWidth>
struct VectorOf {
  typedef T type __attribute__((vector_size(sizeof(T) * kWidth)));
};
template <class T, size_t kWidth>
using Vector = typename VectorOf<T, kWidth>::type;

// IEEE 754 binary16, which neither the language nor every machine has.
struct Half {};

template <size_t kSize>
using UnsignedOf =
    std::conditional_t<kSize == 1, uint8_t,
                       std::conditional_t<kSize == 2, uint16_t, std::conditional_t<kSize == 4, uint32_t, uint64_t>>>;

template <class T>
using Bits = UnsignedOf<std::is_same_v<T, Half> ? 2 : sizeof(T)>;

template <class B, size_t kWidth>
FOREBAY_INLINE void swap_bytes(Vector<B, kWidth>& v) {
  if constexpr (sizeof(B) == 8) v = (v << 32) | (v >> 32);
  if constexpr (sizeof(B) == 8)
    v = ((v & 0x0000ffff0000ffff) << 16) | ((v >> 16) & 0x0000ffff0000ffff);
  else if constexpr (sizeof(B) == 4)
    v = (v << 16) | (v >> 16);
  constexpr auto kEvenBytes = static_cast<B>(0x00ff00ff00ff00ff);
  if constexpr (sizeof(B) >= 2) v = ((v & kEvenBytes) << 8) | ((v >> 8) & kEvenBytes);
}

// The binary32 values of halves.
template <size_t kWidth>
FOREBAY_INLINE void widen_halves(const Vector<uint16_t, kWidth>& halves, Vector<float, kWidth>& out) {
  using Words = Vector<uint32_t, kWidth>;
  using Floats = Vector<float, kWidth>;
  const Words bits = __builtin_convertvector(halves, Words);
  const Words magnitude = bits & 0x7fff;
  // Moved into the exponent and fraction of a binary32, a half is too small by 2^112; subnormals included. Infinities
  // and NaNs, with the largest half exponent, are lifted to the largest one there is.
  const Floats scaled = reinterpret_cast<Floats>(magnitude << 13) * 0x1p112f;
  const Words special = reinterpret_cast<Words>(magnitude >= 0x7c00) & 0x7f800000;
  out = reinterpret_cast<Floats>(reinterpret_cast<Words>(scaled) | special | (bits >> 15 << 31));
}

// The elements of type T whose bytes, in native order, are `bits`.
template <class T, size_t kWidth>
FOREBAY_INLINE void widen(const Vector<Bits<T>, kWidth>& bits, Vector<double, kWidth>& out) {
  using Doubles = Vector<double, kWidth>;
  using Ints = Vector<int32_t, kWidth>;
  if constexpr (std::is_same_v<T, double>) {
    out = reinterpret_cast<Doubles>(bits);
  } else if constexpr (std::is_same_v<T, float>) {
    out = __builtin_convertvector(reinterpret_cast<Vector<float, kWidth>>(bits), Doubles);
  } else if constexpr (std::is_same_v<T, Half>) {
    Vector<float, kWidth> floats;
    widen_halves<kWidth>(bits, floats);
    out = __builtin_convertvector(floats, Doubles);
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    // Signed conversion is the one that machines have; the offset is exact.
    out = __builtin_convertvector(reinterpret_cast<Ints>(bits ^ 0x80000000), Doubles) + 0x1p31;
  } else if constexpr (sizeof(T) < 4) {
    out = __builtin_convertvector(__builtin_convertvector(reinterpret_cast<Vector<T, kWidth>>(bits), Ints), Doubles);
  } else {
    out = __builtin_convertvector(reinterpret_cast<Vector<T, kWidth>>(bits), Doubles);
  }
}

// Calls use.operator()<T, kSwapped>() for the number type `type`: whether its bytes are in the other order than this
// machine's.
template <class Use>
auto with_number_type(const DataType& type, const Use& use) {
  const bool swapped = (type.order == ByteOrder::big) != (std::endian::native == std::endian::big);
  const auto with = [&]<class T>() {
    return swapped ? use.template operator()<T, true>() : use.template operator()<T, false>();
  };
  const auto with_size = [&]<class One, class Two, class Four, class Eight>() {
    if (type.size == 1) return with.template operator()<One>();
    if (type.size == 2) return with.template operator()<Two>();
    return type.size == 4 ? with.template operator()<Four>() : with.template operator()<Eight>();
  };
  if (type.kind == Kind::signed_int) return with_size.template operator()<int8_t, int16_t, int32_t, int64_t>();
  if (type.kind == Kind::unsigned_int) return with_size.template operator()<uint8_t, uint16_t, uint32_t, uint64_t>();
  return with_size.template operator()<Half, Half, float, double>();
}

}  // namespace forebay::container
