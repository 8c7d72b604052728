// Which blocks of global arrays together make up larger boxes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/shape.h"

namespace forebay::io {

// A block of a global array. Neither its elements nor, in any dimension, its offset and shape together pass 2^64.
struct PlacedBlock {
  uint32_t variable = 0;  // blocks of different numbers have nothing to do with each other
  uint32_t kind = 0;      // only blocks of one variable and one kind join
  bool may_join = true;   // otherwise it is here for what it overlaps
  Shape offsets, shape;   // of one length
};

// Blocks that make up a box without gap or overlap.
struct Join {
  std::vector<size_t> blocks;  // their places, ascending, two at least
  Shape offsets, shape;        // of the box
};

// No block is in two joins, and none that joins overlaps another block of its variable, whether or not that one may
// join. Blocks of one kind that make up a box all together join to one; of others, those in a row along a dimension
// join as long as there are such rows, the last dimension first. Empty blocks do not join. Of a variable with more than
// kMostPlacedBlocks blocks, or whose blocks differ in their number of dimensions, nothing joins: so the time for a
// block is bounded. The joins come in the order of their first blocks.
inline constexpr size_t kMostPlacedBlocks = 8192;
std::vector<Join> plan_joins(std::span<const PlacedBlock> blocks);

}  // namespace forebay::io
