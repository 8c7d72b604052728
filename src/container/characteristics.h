// Characteristics: what the values of a variable look like, computed while the data pass (as ADIOS has them).
#pragma once

#include <cstdint>
#include <span>

#include "base/datatype.h"
#include "base/meaning.h"

namespace forebay::container {

// Of one variable of one file. Integers are taken as doubles. NaNs, infinities and holes (base/meaning.h) are counted
// and left out of the rest.
struct Characteristics {
  uint64_t count = 0;                                    // finite values
  double min = 0, max = 0, sum = 0, sum_of_squares = 0;  // 0 if count is 0
  uint64_t nans = 0, infinities = 0, holes = 0;

  bool operator==(const Characteristics&) const = default;

  // Of two disjoint ranges of values together. Sums depend on the order of merging in their last bits.
  void merge(const Characteristics& other);
};

// Of the elements in `bytes`, a whole number of them. All zero if `type` is opaque. Deterministic: the same values give
// the same bits on every machine (sums are kept in eight fixed lanes).
Characteristics characterise(const DataType& type, std::span<const std::byte> bytes);

// The same of what is stored, with regard to what it means: without holes, and as unsigned numbers if they are.
Characteristics characterise(const DataType& type, std::span<const std::byte> bytes, const Meaning& meaning);

}  // namespace forebay::container
