// Puts a block into a larger box.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/shape.h"

namespace forebay::io {

// The elements of the block come in C order, in pieces of any length.
class BoxFiller {
 public:
  // `box` has the bytes of `box_shape`; `place` is where the block, which lies inside, begins in it. All shapes have
  // the same length, one at least.
  BoxFiller(std::span<std::byte> box, const Shape& box_shape, const Shape& place, const Shape& block_shape,
            uint64_t element_bytes);

  // Not more in all than the block has.
  void put(std::span<const std::byte> piece);

 private:
  void next_row();

  std::span<std::byte> box_;
  uint64_t row_bytes_;        // which lie together in the box
  Shape rows_, at_, stride_;  // by dimension of which rows are cut: how many, the present one, the bytes between them
  uint64_t begin_ = 0, filled_ = 0;  // of the present row
};

}  // namespace forebay::io
