// The bytes of a source at places that go up, a piece at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/byte_source.h"
#include "base/bytes.h"

namespace forebay::format {

// Reads little where places lie far apart, and more at a time where they follow each other. The source outlives it.
class Window {
 public:
  explicit Window(const ByteSource& source) : source_(&source) {}

  // The `count` bytes from `offset` on, fewer at the end of the source; valid until the next call.
  Result<std::span<const std::byte>> at(uint64_t offset, size_t count) {
    const uint64_t size = source_->size();
    if (offset >= size) return std::span<const std::byte>();
    count = static_cast<size_t>(std::min<uint64_t>(count, size - offset));
    if (offset < start_ || offset + count > start_ + bytes_.size()) FOREBAY_CHECK(fill(offset, count));
    return std::span(bytes_).subspan(static_cast<size_t>(offset - start_), count);
  }

 private:
  static constexpr size_t kLeast = 4096, kMost = 1 << 16;

  Result<void> fill(uint64_t offset, size_t count) {
    const bool follows = offset >= start_ && offset <= start_ + bytes_.size();
    ahead_ = follows ? std::min(2 * ahead_, kMost) : kLeast;
    start_ = offset;
    bytes_.resize(static_cast<size_t>(std::min<uint64_t>(std::max(count, ahead_), source_->size() - offset)));
    return source_->read_at(start_, bytes_);
  }

  const ByteSource* source_;
  uint64_t start_ = 0;
  size_t ahead_ = kLeast;
  Bytes bytes_;
};

}  // namespace forebay::format
