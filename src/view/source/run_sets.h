// The sets of a store that are the steps of a run, in their order. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/store.h"

namespace forebay::view {

// A set of a store, and what else is known of the place of one whose manifest cannot be read.
struct RunSet {
  store::SetInfo info;
  std::optional<store::Manifest> outline = {};  // as the store's listing remembers it
  std::optional<int64_t> written_ns = {};       // SetFiles::written_ns()

  // Of the set, if it is known: its manifest's, else its outline's.
  const store::Manifest* known() const {
    if (info.manifest) return &*info.manifest;
    return outline ? &*outline : nullptr;
  }
};

// Those of the series, oldest first. A set whose manifest cannot be read has the place that its outline gives it. One
// without an outline belongs to every series, as it may; it comes behind the sets that were made before its containers
// were written, or before all others where that is not known.
std::vector<RunSet> steps_of_series(std::vector<RunSet> sets, const std::string& series);

}  // namespace forebay::view
