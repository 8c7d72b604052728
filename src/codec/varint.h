// LEB128: seven bits a byte from the lowest, bit 7 set on all but the last.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"

namespace forebay::codec {

inline void put_varint(Bytes& out, uint64_t value) {
  constexpr unsigned kBits = 7;
  for (; value >> kBits != 0; value >>= kBits) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

// Takes a number off the front of `in`; none if it is cut off or does not fit.
inline std::optional<uint64_t> take_varint(std::span<const std::byte>& in) {
  constexpr unsigned kBits = 7, kLastShift = 63;
  uint64_t value = 0;
  for (unsigned shift = 0; shift <= kLastShift && !in.empty(); shift += kBits) {
    const auto byte = std::to_integer<uint64_t>(in.front());
    in = in.subspan(1);
    if (shift == kLastShift && byte > 1) break;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace forebay::codec
