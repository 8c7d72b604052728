// Which of two checkpoint sets of a series is the newer one, wherever they lie (docs/store.md, "Order"). Pure.
#pragma once

#include <compare>
#include <cstdint>

namespace forebay::store {

// Sets are in the order in which they were completed: by their ordinals. The clock decides between those that have
// none, which come before all that have one, and between two writers that took the same one at once. Who sorts adds
// what tells two sets of one age apart.
struct Age {
  uint64_t ordinal = 0;    // 0: none, as of sets that were written before there were ordinals
  int64_t created_ns = 0;  // since 1970
  auto operator<=>(const Age&) const = default;
};

}  // namespace forebay::store
