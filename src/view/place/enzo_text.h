// The text files of an Enzo dump: its parameters, and the hierarchy of its grids. Pure; the texts are hostile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/shape.h"

namespace forebay::view {

// Everything in the order of the text: x, y, z.
struct EnzoParameters {
  Shape top_grid;                   // cells of the coarsest level
  std::vector<double> left, right;  // edges of the domain
  uint64_t refine_by = 2;
  std::optional<double> time;
};

struct EnzoGrid {
  uint64_t number = 0;
  uint32_t level = 0;
  Shape dimensions;   // cells, ghost cells included
  Shape first, last;  // indices of the active ones, both included
  std::vector<double> left;
  std::string file;  // in which its fields lie, without directories
};

// corrupt, naming what is missing or impossible.
Result<EnzoParameters> parse_enzo_parameters(std::string_view text);
Result<std::vector<EnzoGrid>> parse_enzo_hierarchy(std::string_view text);

// Where a grid's active cells lie among the cells of its level, how many it has, and how many the level has. Nothing if
// it does not lie on them.
struct EnzoPlace {
  Shape offset, count, level_shape;
};
std::optional<EnzoPlace> place_of(const EnzoGrid& grid, const EnzoParameters& parameters);

}  // namespace forebay::view
