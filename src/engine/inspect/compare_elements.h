// Two arrays of one datatype, element by element. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/datatype.h"

namespace forebay::engine {

struct ElementDifference {
  uint64_t elements = 0;    // that differ in any bit
  uint64_t nans = 0;        // of these: one of the two values, or both, are NaN
  uint64_t infinities = 0;  // of these: one of the two values, or both, are infinite, and none is NaN
  uint64_t measured = 0;    // of these: both values are finite numbers
  double max_absolute = 0;  // largest difference of these last; the largest double if it is beyond

  void merge(const ElementDifference& other);
};

// `a` and `b` have the same size, a whole number of elements. Of elements that are no numbers it is known that they
// differ, and not by how much.
ElementDifference compare_elements(const DataType& type, std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace forebay::engine
