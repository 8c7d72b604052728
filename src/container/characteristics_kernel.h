// The loops behind characterise(), for the instruction sets that this build knows. All give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "container/characteristics.h"
#include "container/vector_load.h"

namespace forebay::container {

inline constexpr size_t kLanes = 8;

// Element i belongs to lane i mod 8.
struct LaneSums {
  double min[kLanes], max[kLanes];
  double sum[kLanes] = {}, sum_of_squares[kLanes] = {};
  uint64_t not_finite[kLanes] = {}, nans[kLanes] = {};

  LaneSums() {
    for (double& lane : min) lane = std::numeric_limits<double>::infinity();
    for (double& lane : max) lane = -std::numeric_limits<double>::infinity();
  }
};

using Scan = void (*)(const std::byte* from, size_t elements, LaneSums& lanes);

// The loop for numbers of this type. `set` must be one that the machine has.
Scan find_scan(InstructionSet set, const DataType& type);

// characterise() with a given instruction set.
Characteristics characterise_on(InstructionSet set, const DataType& type, std::span<const std::byte> bytes);

}  // namespace forebay::container
