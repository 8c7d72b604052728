// What MPI tells of how a datatype was made, without MPI: the input for its pattern. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "mpiio/pattern.h"

namespace forebay::lock::mpiio {

// How a datatype was made of others. Forms that differ only in the type of their arguments are one.
enum class Combiner : uint8_t {
  dup,
  contiguous,
  vector,
  hvector,
  indexed,
  hindexed,
  indexed_block,
  hindexed_block,
  structure,
  subarray,
  darray,
  resized,
  value_index,
};

struct TypeContents {
  Combiner combiner = Combiner::dup;

  // The arguments in the order in which MPI_Type_get_contents gives them: integers, then addresses, then counts. For
  // subarray and darray in the order of the form without counts, whichever it was, and with orders, distributions and
  // default arguments as array_types.h has them.
  std::vector<int64_t> numbers;
  std::vector<Pattern> types;

  // As MPI_Type_get_extent tells.
  int64_t lower_bound = 0;
  int64_t extent = 0;
};

// invalid_argument if the numbers are not those of the combiner.
Result<Pattern> pattern_of(const TypeContents& contents);

}  // namespace forebay::lock::mpiio
