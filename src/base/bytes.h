// Little helpers on raw bytes.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace forebay {

using Bytes = std::vector<std::byte>;

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The number stored little-endian (or big-endian) at `from`, which has at least sizeof(T) readable bytes.
template <std::integral T>
T load_le(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1) value = std::byteswap(value);
  return value;
}

template <std::integral T>
T load_be(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::endian::native == std::endian::little && sizeof(T) > 1) value = std::byteswap(value);
  return value;
}

template <std::integral T>
void store_le(std::byte* to, T value) {
  if constexpr (std::endian::native == std::endian::big && sizeof(T) > 1) value = std::byteswap(value);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace forebay
