// Numbers of variable length: seven bits a byte, the lowest first; the high bit says that more follow. Cursor reads
// them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace forebay {

// Small differences of either sign, modulo 2^64, become small numbers.
constexpr uint64_t zigzag(uint64_t difference) { return (difference << 1) ^ (0 - (difference >> 63)); }
constexpr uint64_t unzigzag(uint64_t value) { return (value >> 1) ^ (0 - (value & 1)); }

inline void put_varint(Bytes& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<std::byte>(value | 0x80));
  to.push_back(static_cast<std::byte>(value));
}

inline void put_signed_varint(Bytes& to, int64_t value) { put_varint(to, zigzag(static_cast<uint64_t>(value))); }

// With its length in front.
inline void put_text(Bytes& to, std::string_view text) {
  put_varint(to, text.size());
  const auto bytes = as_bytes(text);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace forebay
