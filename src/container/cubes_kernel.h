// The loops behind cubes_of(), for the instruction sets that this build knows. All give the same values.
#pragma once

#include <cstddef>
#include <limits>

#include "container/vector_load.h"

namespace forebay::container {

// Of some values as doubles.
struct Extremes {
  double min = std::numeric_limits<double>::infinity(), max = -std::numeric_limits<double>::infinity();
  bool has_nan = false;
};

// Of `rows` rows of `columns` elements each, one at least of both, that begin `row_bytes` apart.
using FindExtremes = Extremes (*)(const std::byte* from, size_t columns, size_t rows, size_t row_bytes);

// The loop for numbers of this type. `set` must be one that the machine has.
FindExtremes find_extremes(InstructionSet set, const DataType& type);

}  // namespace forebay::container
