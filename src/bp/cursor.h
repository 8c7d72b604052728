// Reading fields one after another out of the indices of a BP file, which may be too short or wrong.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"

namespace forebay::bp {

// Once a read passes the end, ok() is false for good and every further read returns zeros or nothing.
class Cursor {
 public:
  // `bytes` begin at `offset` of the file.
  Cursor(std::span<const std::byte> bytes, uint64_t offset, bool big_endian)
      : bytes_(bytes), offset_(offset), big_endian_(big_endian) {}

  bool ok() const { return ok_; }
  bool big_endian() const { return big_endian_; }
  uint64_t remaining() const { return bytes_.size(); }
  uint64_t offset() const { return offset_; }  // in the file, of what is read next

  std::span<const std::byte> take(uint64_t count) {
    if (count > bytes_.size()) {
      ok_ = false;
      offset_ += bytes_.size();
      bytes_ = {};
      return {};
    }
    const auto taken = bytes_.first(static_cast<size_t>(count));
    bytes_ = bytes_.subspan(taken.size());
    offset_ += count;
    return taken;
  }

  template <std::integral T>
  T get() {
    const auto taken = take(sizeof(T));
    if (taken.empty()) return T{};
    return big_endian_ ? load_be<T>(taken.data()) : load_le<T>(taken.data());
  }
  double float64() { return std::bit_cast<double>(get<uint64_t>()); }
  bool flag() { return get<uint8_t>() == 'y'; }
  std::string text() { return std::string(as_text(take(get<uint16_t>()))); }

  // The next `count` bytes by themselves, which are passed over here.
  Cursor part(uint64_t count) {
    const uint64_t begin = offset_;
    Cursor inner(take(count), begin, big_endian_);
    inner.ok_ = ok_;
    return inner;
  }

 private:
  std::span<const std::byte> bytes_;
  uint64_t offset_;
  bool big_endian_;
  bool ok_ = true;
};

}  // namespace forebay::bp
