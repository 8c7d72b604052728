// Which sets refer to which, for verbs that remove sets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/store.h"

namespace forebay::engine {

// What is wrong with a set, with what lies in the place of one, or with a whole series.
struct SetProblem {
  std::string name;
  Error error;
};

// The sets whose manifests do not tell their parents: those that are being written, and those that are damaged.
struct OtherReferrers {
  std::vector<store::Manifest> known;  // with name and parents alone
  std::vector<SetProblem> problems;    // of the sets that cannot be read
  bool all_known = true;               // false: one may be whole, and nobody can tell what it needs
};

// `sets` are all that Store::list() tells.
Result<OtherReferrers> other_referrers(const store::Store& store, const std::vector<store::SetInfo>& sets,
                                       uint64_t memory_bytes);

// The parents of a set that are not among `sets`, or are others than it was written with: it cannot be restored.
std::vector<std::string> missing_parents(const store::SetInfo& set, const std::vector<store::SetInfo>& sets);

}  // namespace forebay::engine
