// prune: sets that a retention policy no longer keeps are removed from a store.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/inspect/referrers.h"
#include "engine/options.h"
#include "store/store.h"

namespace forebay::engine {

struct PruneOptions {
  std::string series;          // which may have no set yet; empty: each series by itself
  store::Retention retention;  // that keeps something
  bool dry_run = false;        // nothing is removed: Pruned::removed says what would be
  // Called before a set is read; what it returns hears of the progress. May be empty.
  std::function<ProgressFn(const std::string& set)> verifies;
};

struct Pruned {
  std::vector<store::SetInfo> sets;                              // that there were, of all series that were looked at
  std::vector<std::string> removed;                              // each before its parents
  std::vector<store::Needed> needed;                             // that have stayed for the sake of others
  std::vector<std::pair<std::string, std::string>> newest_good;  // series, and its newest intact set, if looked for
  std::vector<SetProblem> problems;                              // found before anything is removed
  std::vector<SetProblem> refused;                               // sets that were to go, and have stayed
  std::vector<SetProblem> left;  // sets that are removed, with files that could not be deleted
};

// Removes what `retention` does not keep (store::to_prune()). Before anything goes, the sets of a series are verified
// from the newest back to the first that is intact, which stays in any case; a series without one stays whole, as do
// all where a set that cannot be read may refer to any other. Nothing is read where nothing would be removed. Errors:
// those of listing the store; corrupt if `series`, or the only one that there is, has no intact set; limit if the
// memory does not suffice to read anything. What goes wrong with single sets is in the answer. Thread-safe.
Result<Pruned> prune(const store::Store& store, const PruneOptions& options, const Resources& resources);

}  // namespace forebay::engine
