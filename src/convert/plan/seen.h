// What the plan needs to know of an array in one step.
#pragma once

#include <vector>

#include "convert/plan/make_plan.h"
#include "view/source/step.h"

namespace forebay::convert {

struct Seen {
  Source source;
  view::ElementType type;
  view::Form form = view::Form::global;
  Shape shape;           // of a global array, as wanted; else the one that all blocks have
  uint64_t blocks = 0;   // of what is not global; 1 if all blocks are known to have the same value
  bool is_equal = true;  // whether all blocks have `shape`
  std::optional<view::Strided> part;
  std::vector<std::string> dimensions;  // as view::Step::dimension_names()
  std::string counts_from;              // of a coordinate: its units and calendar ("days since 2000-01-01")
  std::vector<uint32_t> ranks;          // of what is not global: that wrote the blocks, and
  std::vector<Shape> shapes;            // of blocks that differ: theirs

  // Whether a dataset can have both, one behind the other.
  bool stacks_with(const Seen& other) const;
};

// Reads the index of the array's blocks if it is not global.
Result<Seen> see(const view::Step& step, Source source, const Wish& wish);

}  // namespace forebay::convert
