// Streams of bits, filled from the lowest bit of each byte on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "codec/simd.h"

namespace forebay::codec {

// Writes up to 8 bytes beyond what it has written so far.
class BitWriter {
 public:
  static constexpr unsigned kMaxWidth = 56;

  FOREBAY_KERNEL explicit BitWriter(std::byte* to) : to_(to) {}

  // The low `width` bits (at most kMaxWidth) of `bits`, which has no others.
  FOREBAY_KERNEL void put(uint64_t bits, unsigned width) {
    pending_ |= bits << count_;
    count_ += width;
    store_le(to_, pending_);
    to_ += count_ >> 3;
    pending_ >>= count_ & 56;
    count_ &= 7;
  }

  // Likewise, with a width of up to 64.
  FOREBAY_KERNEL void put_wide(uint64_t bits, unsigned width) {
    if (width <= kMaxWidth) return put(bits, width);
    put(bits & 0xffffffff, 32);
    put(bits >> 32, width - 32);
  }

  // Ends the stream at a whole byte; returns the byte after it.
  FOREBAY_KERNEL std::byte* finish() {
    store_le(to_, pending_);
    return to_ + (count_ > 0 ? 1 : 0);
  }

 private:
  std::byte* to_;
  uint64_t pending_ = 0;  // the bits after to_
  unsigned count_ = 0;    // of them: fewer than 8
};

// The bits from bit `at` of the bytes at `from` on: 57 or more, followed by 0.
FOREBAY_KERNEL uint64_t peek_bits(const std::byte* from, size_t at) {
  return load_le<uint64_t>(from + (at >> 3)) >> (at & 7);
}

FOREBAY_KERNEL uint64_t low_bits(uint64_t bits, unsigned width) { return bits & ((uint64_t{1} << width) - 1); }

// `width` bits (0 to 63) from bit `at` on; reads 9 bytes.
FOREBAY_KERNEL uint64_t peek_wide(const std::byte* from, size_t at, unsigned width) {
  uint64_t bits = peek_bits(from, at);
  if (width > 56) bits |= std::to_integer<uint64_t>(from[(at >> 3) + 8]) << 1 << (63 - (at & 7));
  return low_bits(bits, width);
}

// Reads a stream whose bits were read by their places in pieces of at most kReach bytes, without reading beyond it:
// the last pieces are read from a copy that zeros follow.
template <size_t kReach>
class BitLane {
 public:
  BitLane() = default;
  BitLane(const BitLane&) = delete;
  BitLane& operator=(const BitLane&) = delete;

  // Must come first.
  void start(std::span<const std::byte> stream) {
    from_ = stream.data();
    size_ = stream.size();
  }

  // Makes sure that kReach bytes from the present place on can be read. False if the place lies beyond the stream.
  bool prepare() {
    if (from_ != tail_) {
      if (size_ >= kReach && at_ >> 3 <= size_ - kReach) return true;
      if (at_ >> 3 > size_) return false;
      to_tail();
    }
    return at_ <= size_ * 8;
  }

  // Whether the present place is in the last byte of the stream, or at its end if that is empty.
  bool is_at_end() const { return (at_ + 7) / 8 == size_; }

  const std::byte* from() const { return from_; }
  size_t at() const { return at_; }
  void set_at(size_t at) { at_ = at; }

 private:
  void to_tail() {
    const size_t done = at_ >> 3;
    size_ -= done;
    std::memset(tail_, 0, sizeof tail_);
    if (size_ > 0) std::memcpy(tail_, from_ + done, size_);
    from_ = tail_;
    at_ &= 7;
  }

  const std::byte* from_ = nullptr;
  size_t size_ = 0, at_ = 0;  // bytes, and the next bit, from from_ on
  std::byte tail_[2 * kReach];
};

}  // namespace forebay::codec
