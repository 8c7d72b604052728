// Which blocks of a global array overlap, and what of it nobody wrote. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "view/model/array.h"

namespace forebay::view {

struct Coverage {
  uint64_t holes = 0;                            // elements that no block has
  std::optional<Box> hole;                       // a box of them
  uint64_t overlapping = 0;                      // pairs of blocks, as far as they were counted
  std::vector<std::pair<size_t, size_t>> pairs;  // the first of them: the block that was written earlier, the later one
};

// Of blocks that lie inside of an array of `shape`, which has dimensions. Sweeps over the dimension in which blocks
// begin at the most places, so that the time is about that of sorting where blocks tile the array. Counts no more than
// `most` pairs, and keeps `most_kept`; limit if holes cannot be counted because blocks overlap in too many ways.
Result<Coverage> coverage(const Shape& shape, std::span<const Box> places, size_t most, size_t most_kept);

}  // namespace forebay::view
