// Shapes of arrays, in elements, slowest-varying dimension first (C order).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/datatype.h"

namespace forebay {

using Shape = std::vector<uint64_t>;

// The product of the dimensions: 1 for a scalar (no dimensions), UINT64_MAX if it does not fit.
inline uint64_t element_count(std::span<const uint64_t> shape) {
  uint64_t count = 1;
  for (const uint64_t dim : shape)
    if (__builtin_mul_overflow(count, dim, &count)) return UINT64_MAX;
  return count;
}

// A dense array inside a frame, seen as at most four dimensions; unused leading ones are 1.
struct Block {
  uint64_t dims[4] = {1, 1, 1, 1};

  auto operator<=>(const Block&) const = default;
  uint64_t count() const { return dims[0] * dims[1] * dims[2] * dims[3]; }
};

// What a frame's bytes are: arrays of one type, one after another. The counts of the blocks sum up to
// raw_bytes / type.size exactly.
struct FrameShape {
  DataType type;
  std::vector<Block> blocks;

  uint64_t element_total() const {
    uint64_t total = 0;
    for (const Block& block : blocks) total += block.count();
    return total;
  }
};

}  // namespace forebay
