// Numbers of variable length, and reading of untrusted bytes. Seven bits a byte, the lowest first; the high bit says
// that more follow.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace forebay::fabric {

inline void put_varint(Bytes& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<std::byte>(value | 0x80));
  to.push_back(static_cast<std::byte>(value));
}

// Small numbers of either sign stay short.
constexpr uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t unzigzag(uint64_t value) { return static_cast<int64_t>((value >> 1) ^ (0 - (value & 1))); }

inline void put_text(Bytes& to, std::string_view text) {
  put_varint(to, text.size());
  const auto bytes = as_bytes(text);
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// Reads on after a fault, but only zeros: callers ask once, at the end.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (position_ == bytes_.size()) return fault();
      const auto byte = std::to_integer<uint64_t>(bytes_[position_++]);
      if (shift == 63 && byte > 1) return fault();
      value |= (byte & 0x7f) << shift;
      // One encoding only for each number.
      if (byte < 0x80) return byte == 0 && shift > 0 ? fault() : value;
    }
    return fault();
  }

  // A number up to `most`.
  uint64_t varint(uint64_t most) {
    const uint64_t value = varint();
    return value <= most ? value : fault();
  }

  std::string_view text(size_t most) {
    const uint64_t size = varint(most);
    if (size > left()) return fault(), std::string_view{};
    position_ += size;
    return as_text(bytes_.subspan(position_ - size, size));
  }

  // What was read makes no sense.
  void refuse() { fault(); }

  size_t left() const { return bytes_.size() - position_; }
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && left() == 0; }

 private:
  uint64_t fault() {
    ok_ = false;
    position_ = bytes_.size();
    return 0;
  }

  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace forebay::fabric
