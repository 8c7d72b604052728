// Characteristics: what the values of a variable look like, computed while the data pass (as ADIOS has them).
#pragma once

#include <cstdint>
#include <span>

#include "base/datatype.h"

namespace forebay::container {

// Of one variable of one file. Integers are taken as doubles. NaNs and infinities are counted and left out of the rest.
struct Characteristics {
  uint64_t count = 0;                                    // finite values
  double min = 0, max = 0, sum = 0, sum_of_squares = 0;  // 0 if count is 0
  uint64_t nans = 0, infinities = 0;

  bool operator==(const Characteristics&) const = default;

  // Of two disjoint ranges of values together. Sums depend on the order of merging in their last bits.
  void merge(const Characteristics& other);
};

// Of the elements in `bytes`, a whole number of them. All zero if `type` is opaque. Deterministic: the same values give
// the same bits on every machine (sums are kept in eight fixed lanes).
Characteristics characterise(const DataType& type, std::span<const std::byte> bytes);

}  // namespace forebay::container
