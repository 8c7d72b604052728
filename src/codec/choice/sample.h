// A small part of a frame that stands for the whole, for the chooser.
#pragma once

#include <vector>

#include "base/bytes.h"
#include "base/shape.h"

namespace forebay::codec {

struct Sample {
  FrameShape shape;
  Bytes bytes;
  std::vector<bool> trimmed;  // per block: whether it is a box cut out of a larger block
};

// About `budget` bytes of the frame `raw` that `shape` describes: runs of adjacent blocks at a few places spread evenly
// over the frame, and of blocks too large for that a box from their middle. The whole frame if it is no larger.
Sample take_sample(const FrameShape& shape, std::span<const std::byte> raw, size_t budget);

// The bytes of those elements of `values` (laid out as the sample, perhaps transformed) that tell how the whole frame
// will do: all of whole blocks, but of boxes only elements whose neighbours in all directions are in the box.
Bytes telling_elements(const Sample& sample, std::span<const std::byte> values);

}  // namespace forebay::codec
