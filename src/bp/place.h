// Where a block lies, from the dimensions that a BP file has.
#pragma once

#include "base/shape.h"
#include "bp/index.h"

namespace forebay::bp {

// In C order, without time. `global` and `offsets` are empty for a local array.
struct Place {
  Shape shape, global, offsets;
};

// `has_time`: the group has a time dimension, which is one of the dimensions if it has size 1 and no place in the
// global ones.
Place place_of(const std::vector<Dimension>& dimensions, bool fortran_order, bool has_time);

}  // namespace forebay::bp
