// Two arrays of one datatype, element by element. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/datatype.h"

namespace forebay::engine {

struct ElementDifference {
  uint64_t elements = 0;    // that differ in any bit
  double max_absolute = 0;  // largest difference of two finite values; 0 if not numbers

  void merge(const ElementDifference& other);
};

// `a` and `b` have the same size, a whole number of elements.
ElementDifference compare_elements(const DataType& type, std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace forebay::engine
