// Parts of arrays, as MPI_Type_create_subarray and MPI_Type_create_darray define them (MPI 4.0, sections 5.1.3 and
// 5.1.4). Pure.
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"
#include "mpiio/pattern.h"

namespace forebay::lock::mpiio {

enum class ArrayOrder : uint8_t {
  c,        // the last dimension varies fastest
  fortran,  // the first one does
};

struct SubarrayDimension {
  int64_t size = 0;     // of the whole array
  int64_t subsize = 0;  // of the part,
  int64_t start = 0;    // which begins here
};

Result<Pattern> subarray(std::span<const SubarrayDimension> dimensions, ArrayOrder order, const Pattern& element,
                         int64_t lower_bound, int64_t extent);

enum class Distribution : uint8_t { none, block, cyclic };

struct DarrayDimension {
  int64_t size = 0;  // of the whole array
  Distribution distribution = Distribution::none;
  int64_t argument = -1;  // elements of a block; negative for the default
  int64_t processes = 1;
};

// What the process with this rank has of a distributed array; ranks lie in the grid of processes in C order.
Result<Pattern> darray(std::span<const DarrayDimension> dimensions, int64_t rank, ArrayOrder order,
                       const Pattern& element, int64_t lower_bound, int64_t extent);

}  // namespace forebay::lock::mpiio
