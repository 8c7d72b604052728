// Boxes of arrays as people type them: "0:10,5,:". Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/shape.h"
#include "engine/set/box_layout.h"

namespace forebay::cli {

// The indices of one dimension: from `begin` up to, but not including, `end`, or to the last one.
struct IndexRange {
  uint64_t begin = 0;
  std::optional<uint64_t> end;
};

// A range for each dimension, separated by commas: "2:10", "2:" (to the last one), ":10", ":" (all), or "7" (this one
// alone; the dimension stays). invalid_argument otherwise, and if a range is empty.
Result<std::vector<IndexRange>> parse_box(std::string_view text);

// The box of an array of that shape. invalid_argument, naming the dimension, if there is none.
Result<engine::Box> box_in(const std::vector<IndexRange>& ranges, const Shape& shape);

}  // namespace forebay::cli
