// Where a frame is cut into entries, the parts that can be decoded alone (docs/codecs.md, "entries"). Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/shape.h"

namespace forebay::codec {

// A stretch of a frame's bytes, and what they are.
struct EntryCut {
  uint64_t begin = 0;
  FrameShape shape;

  uint64_t bytes() const { return shape.element_total() * shape.type.size; }
};

// The entries of a frame, in the order of their bytes, which they cover: blocks of more than `most_bytes` are cut
// between planes, rows or elements, smaller ones are put together. One has more than `most_bytes` only if an element
// does. Empty if the frame is. `shape` has no more than 2^64 bytes.
std::vector<EntryCut> cut_entries(const FrameShape& shape, uint64_t most_bytes);

}  // namespace forebay::codec
