// Writing fields one after another as BP files have them: in this machine's byte order, without gaps.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/bytes.h"

namespace forebay::bp {

inline constexpr uint64_t kMostText = INT16_MAX;  // bytes of a name or string: the original takes lengths as signed

class Encoder {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  Encoder& put(T value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    return raw(bytes);
  }
  Encoder& flag(bool value) { return put<uint8_t>(value ? 'y' : 'n'); }
  Encoder& raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }

  // Of at most kMostText bytes.
  Encoder& text(std::string_view text) {
    put(static_cast<uint16_t>(text.size()));
    return raw(as_bytes(text));
  }

  // Puts a value where another one of its size was put, at `offset`.
  template <class T>
  void replace(size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }

  size_t size() const { return bytes_.size(); }
  const Bytes& bytes() const { return bytes_; }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

}  // namespace forebay::bp
