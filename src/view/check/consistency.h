// Whether what ranks wrote independently of each other goes together (delayed consistency): each process writes without
// asking the others, with enough beside the values to find out afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "view/source/run.h"

namespace forebay::view {

enum class Disagreement : uint8_t {
  type,         // ranks, or steps, wrote a variable with different types
  dimensions,   // or with different numbers of dimensions
  bounds,       // a block lies outside of its global array
  overlap,      // several ranks wrote the same elements
  values,       // and not the same values
  gap,          // nobody wrote some elements of a global array
  rank,         // a rank wrote nothing in this step, or not this variable, though it did in the step before
  variable,     // a variable of the step before is missing
  order,        // steps or times do not rise
  description,  // what a file or a program says of places or attributes contradicts itself
  unreadable,   // cannot be told: the index or the values cannot be read
};

// "type", "dimensions", ...
const char* to_string(Disagreement kind);

struct Inconsistency {
  Disagreement kind = Disagreement::unreadable;
  StepInfo step;
  std::string variable;         // empty: concerns the step
  std::vector<uint32_t> ranks;  // concerned, rising, the first kMostRanksNamed of them; may be empty
  uint64_t count = 0;           // ranks, pairs of blocks or elements: whatever `what` counts
  std::optional<Box> box;       // where, or an example
  std::string what;             // a sentence
};
inline constexpr size_t kMostRanksNamed = 8;

struct CheckOptions {
  uint64_t begin_step = 0;
  uint64_t end_step = std::numeric_limits<uint64_t>::max();  // not included
  bool values = false;                                       // compare values where blocks overlap
  std::vector<std::string> optional;  // globs of variables that need not be in every step, nor on every rank
};

// What was looked at.
struct CheckSummary {
  uint64_t steps = 0, arrays = 0, blocks = 0;
  uint64_t inconsistencies = 0;
  ReadCost cost;
};

// Looks at every array of every step, and calls `tell` for each inconsistency, in the order of steps and variables.
// Overlaps that have the same values are no inconsistency if values are compared. Reads indices only, unless `values`.
CheckSummary check_consistency(const Run& run, const CheckOptions& options,
                               const std::function<void(const Inconsistency&)>& tell);

}  // namespace forebay::view
