// Reading fields one after another out of bytes that may be too short or wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/datatype.h"
#include "base/varint.h"

namespace forebay {

// A number at `from`, of which sizeof(T) bytes must be there.
template <std::integral T>
T load(const std::byte* from, ByteOrder order) {
  return order == ByteOrder::little ? load_le<T>(from) : load_be<T>(from);
}

// Once a read passes the end, ok() is false for good, nothing remains, and every further read returns zeros or nothing:
// a parser may read a whole structure and ask once.
class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && remaining() == 0; }
  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }

  // What was read makes no sense: as if a read had passed the end. Returns 0.
  uint64_t refuse() {
    ok_ = false;
    position_ = bytes_.size();
    return 0;
  }

  std::span<const std::byte> bytes(uint64_t count) {
    if (count > remaining()) return refuse(), std::span<const std::byte>();
    const auto taken = bytes_.subspan(position_, static_cast<size_t>(count));
    position_ += taken.size();
    return taken;
  }
  std::string_view text(uint64_t count) { return as_text(bytes(count)); }
  void skip(uint64_t count) { bytes(count); }

  template <std::integral T>
  T le() {
    const auto taken = bytes(sizeof(T));
    return taken.empty() ? T{} : load_le<T>(taken.data());
  }
  template <std::integral T>
  T be() {
    const auto taken = bytes(sizeof(T));
    return taken.empty() ? T{} : load_be<T>(taken.data());
  }
  uint8_t u8() { return le<uint8_t>(); }
  uint16_t u16() { return le<uint16_t>(); }
  uint32_t u32() { return le<uint32_t>(); }
  uint64_t u64() { return le<uint64_t>(); }

  // A little-endian number of 0 to 8 bytes.
  uint64_t number(size_t size) {
    if (size == 8) return u64();
    uint64_t value = 0;
    const auto taken = bytes(size);
    for (size_t i = 0; i < taken.size(); ++i) value |= uint64_t{std::to_integer<uint8_t>(taken[i])} << (8 * i);
    return value;
  }

  // A number of variable length up to `most`. Each number has one encoding only.
  uint64_t varint(uint64_t most = UINT64_MAX) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (remaining() == 0) return refuse();
      const auto byte = std::to_integer<uint64_t>(bytes_[position_++]);
      if ((shift == 63 && byte > 1) || (byte == 0 && shift > 0)) return refuse();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value <= most ? value : refuse();
    }
    return refuse();
  }
  int64_t signed_varint() { return static_cast<int64_t>(unzigzag(varint())); }

  // A text with its length in front, up to `most` bytes.
  std::string_view varint_text(uint64_t most = UINT64_MAX) { return text(varint(most)); }

  // How many things of at least `least` bytes each follow: no more than there is room for.
  size_t count(size_t least) { return static_cast<size_t>(varint(remaining() / least)); }

  // Whether the next bytes are `signature`, which is passed over.
  bool expect(std::string_view signature) { return text(signature.size()) == signature; }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace forebay
