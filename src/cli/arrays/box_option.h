// Boxes of arrays as people type them, and NumPy takes them: "0:10,5,:,-5:,::2". Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/shape.h"
#include "engine/set/box_layout.h"

namespace forebay::cli {

struct Index {
  uint64_t value = 0;
  bool is_from_end = false;  // counted back from behind the last one: written -1, -2, ...
};

// The indices of one dimension: every `step`-th from `begin` up to, but not including, `end`. Those that are left out
// are the ends of the dimension.
struct IndexRange {
  std::optional<Index> begin, end;
  uint64_t step = 1;
  bool is_one = false;  // `begin` alone, which must be there; the dimension stays
};

// A range for each dimension, separated by commas: "2:10", "-5:", ":10", "::2", ":" (all), or "7" (this one alone).
// invalid_argument otherwise, and for steps that are not positive.
Result<std::vector<IndexRange>> parse_box(std::string_view text);

struct IndexBox {
  engine::Box box;  // `count` of elements that are selected
  Shape stride;     // empty: 1 in each dimension
};

// The box of an array of that shape, where ends beyond the array are its ends. invalid_argument, naming the dimension,
// if it holds no index, or one alone is outside.
Result<IndexBox> box_in(const std::vector<IndexRange>& ranges, const Shape& shape);

// The same for those that take no steps.
Result<engine::Box> dense_box_in(const std::vector<IndexRange>& ranges, const Shape& shape);

}  // namespace forebay::cli
