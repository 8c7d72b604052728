#include "engine/inspect/referrers.h"

#include <algorithm>

#include "engine/set/parent_frames.h"

namespace forebay::engine {

Result<OtherReferrers> other_referrers(const store::Store& store, const std::vector<store::SetInfo>& sets,
                                       uint64_t memory_bytes) {
  OtherReferrers others;
  FOREBAY_TRY(others.known, store.staged());
  for (const store::SetInfo& set : sets) {
    if (set.manifest) continue;
    others.problems.push_back({set.name, set.manifest.error()});
    store::Manifest known{.name = set.name};
    auto parents = parents_of(set, memory_bytes);
    if (!parents) {
      others.all_known = false;
      parents.error().hint = "it may refer to any other set: nothing is removed until it can be read or is gone";
      others.problems.push_back({set.name, parents.error()});
      continue;
    }
    known.parents = *std::move(parents);
    for (store::ParentEntry& parent : known.parents) {
      const auto there = std::ranges::find(sets, parent.name, &store::SetInfo::name);
      if (there != sets.end() && there->manifest) parent.created_ns = there->manifest->created_ns;
    }
    others.known.push_back(std::move(known));
  }
  return others;
}

std::vector<std::string> missing_parents(const store::SetInfo& set, const std::vector<store::SetInfo>& sets) {
  std::vector<std::string> missing;
  if (!set.manifest) return missing;
  for (const store::ParentEntry& parent : set.manifest->parents) {
    const auto there = std::ranges::find(sets, parent.name, &store::SetInfo::name);
    if (there == sets.end() || (there->manifest && there->manifest->created_ns != parent.created_ns))
      missing.push_back(parent.name);
  }
  return missing;
}

}  // namespace forebay::engine
