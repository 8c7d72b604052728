// What `read`, `convert` and `query` are asked for: steps, and a part of an array.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/shape.h"
#include "cli/arrays/box_option.h"
#include "view/read/selection.h"

namespace forebay::cli {

// Steps as they are typed: "3", "-1" (the last one), "latest", "2:10", "-5:", ":". Pure.
struct StepRange {
  int64_t first = -1;
  std::optional<int64_t> end;  // not included
  bool is_range = false;       // with a colon: the result has a dimension of steps

  bool is_latest() const { return !is_range && first == -1; }

  // The numbers of the steps, of `count` steps that there are: first and end. not_found if there are none.
  Result<std::pair<uint64_t, uint64_t>> of(uint64_t count) const;
};
Result<StepRange> parse_steps(std::string_view text);

// Numbers as they are typed: "2,2,1". Pure.
Result<Shape> parse_numbers(std::string_view text);

// Points as text: the indices of one in each line, separated by commas or blanks; what follows a '#' is left out. All
// have as many. Pure.
Result<view::Points> parse_points(std::string_view text);

struct ReadWish {
  std::optional<std::vector<IndexRange>> box;
  Shape stride;
  std::optional<uint64_t> block;
  std::optional<view::Points> points;
};

// A wish in an array of a step.
struct WishedPart {
  view::Selection selection;
  Shape shape;  // of the result
};
Result<view::Strided> strided_part(const view::Array& array, const ReadWish& wish);  // of a global array
Result<WishedPart> part_of(const view::Step& step, size_t array, const ReadWish& wish);

// The part of `part` that is the box `slab` of its result.
view::Selection slab_of(const WishedPart& part, const engine::Box& slab);

// The indices in the array, or in the block, of an element of the result, with a comma behind each.
void append_indices(const WishedPart& part, uint64_t element, std::string& line);

}  // namespace forebay::cli
