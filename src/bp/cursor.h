// Reading fields one after another out of the indices of a BP file, which may be too short or wrong.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>

#include "base/cursor.h"

namespace forebay::bp {

// One that knows where in the file it is, and in which order of bytes that was written.
class Cursor : public forebay::Cursor {
 public:
  // `bytes` begin at `offset` of the file.
  Cursor(std::span<const std::byte> bytes, uint64_t offset, bool big_endian)
      : forebay::Cursor(bytes), begin_(offset), big_endian_(big_endian) {}

  bool big_endian() const { return big_endian_; }
  uint64_t offset() const { return begin_ + position(); }  // in the file, of what is read next

  template <std::integral T>
  T get() {
    return big_endian_ ? be<T>() : le<T>();
  }
  double float64() { return std::bit_cast<double>(get<uint64_t>()); }
  bool flag() { return get<uint8_t>() == 'y'; }
  std::string short_text() { return std::string(text(get<uint16_t>())); }

  // The next `count` bytes by themselves, which are passed over here.
  Cursor part(uint64_t count) {
    const uint64_t begin = offset();
    Cursor inner(bytes(count), begin, big_endian_);
    if (!ok()) inner.refuse();
    return inner;
  }

 private:
  uint64_t begin_;
  bool big_endian_;
};

}  // namespace forebay::bp
