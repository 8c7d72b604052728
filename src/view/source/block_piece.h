// Pieces of blocks that lie dense in a file.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "view/source/step.h"

namespace forebay::view {

// What a piece, which is not empty, has of the bytes of its block. The piece must outlive it.
class BlockPiece {
 public:
  BlockPiece(const Piece& piece, uint64_t element_bytes) : piece_(piece), element_(element_bytes) {
    const Shape& shape = piece.from.shape;
    strides_.resize(shape.size());
    uint64_t stride = element_bytes;
    for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) strides_[d] = stride;
    end_ = element_bytes;
    for (size_t d = 0; d < shape.size(); ++d) {
      begin_ += first(d) * strides_[d];
      end_ += (first(d) + piece.box.count[d] - 1) * strides_[d];
    }
  }

  // The bytes of the block from the first to behind the last one of the piece.
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }

  bool touches(uint64_t begin, uint64_t end) const { return begin_ < end && begin < end_; }

  // Copies what the bytes of the block from `begin` on have of the piece.
  void take(uint64_t begin, std::span<const std::byte> bytes) const { take(0, 0, piece_.out, begin, bytes); }

 private:
  uint64_t first(size_t d) const {
    return piece_.box.begin[d] + (piece_.from.begin.empty() ? 0 : piece_.from.begin[d]);
  }

  // `at` is where the indices of the dimensions before `d` lead to, in the block, and `out` in the destination.
  void take(size_t d, uint64_t at, std::byte* out, uint64_t begin, std::span<const std::byte> bytes) const {
    const uint64_t end = begin + bytes.size();
    const bool is_run = d + 1 == strides_.size() && piece_.strides[d] == element_;
    if (d == strides_.size() || is_run) {
      const uint64_t from = at + (is_run ? first(d) * element_ : 0);
      const uint64_t length = is_run ? piece_.box.count[d] * element_ : element_;
      const uint64_t low = std::max(from, begin), high = std::min(from + length, end);
      if (low < high) std::memcpy(out + (low - from), bytes.data() + (low - begin), high - low);
      return;
    }
    // Those indices whose bytes touch the range.
    const uint64_t base = at + first(d) * strides_[d];
    const uint64_t low = begin > base ? (begin - base) / strides_[d] : 0;
    const uint64_t high = end > base ? std::min(piece_.box.count[d], (end - base - 1) / strides_[d] + 1) : 0;
    for (uint64_t i = low; i < high; ++i)
      take(d + 1, base + i * strides_[d], out + i * piece_.strides[d], begin, bytes);
  }

  const Piece& piece_;
  uint64_t element_;
  std::vector<uint64_t> strides_;  // bytes, in the block
  uint64_t begin_ = 0, end_ = 0;   // of the first and behind the last byte of it, in the block
};

}  // namespace forebay::view
