// Elements of a frame as the floating-point numbers that they are, in either order of bytes.
#pragma once

#include <bit>
#include <type_traits>

#include "base/bytes.h"

namespace forebay::codec {

template <class F>
struct Values {
  using Bits = std::conditional_t<sizeof(F) == sizeof(uint32_t), uint32_t, uint64_t>;

  const std::byte* at;
  bool is_big;

  Bits bits(size_t i) const { return is_big ? load_be<Bits>(at + i * sizeof(F)) : load_le<Bits>(at + i * sizeof(F)); }
  F operator[](size_t i) const { return std::bit_cast<F>(bits(i)); }
};

template <class F>
auto bits_of(F value) {
  return std::bit_cast<typename Values<F>::Bits>(value);
}

}  // namespace forebay::codec
