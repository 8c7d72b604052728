// What a coordinator asks of the store, and what it is answered, as values: a thread of its own does the work
// (store_worker.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "engine/inspect/prune.h"
#include "job/coordinator/store_room.h"
#include "store/store.h"

namespace forebay::job {

// A set of a series that the store has under a name or one of its successors.
struct StoredSet {
  std::string name;
  std::vector<std::string> sources;  // store::Manifest::sources
  uint64_t ordinal = 0;
};

struct LookUp {
  uint64_t set = 0;  // only comes back
  std::string name, series{store::kDefaultSeries};
};
struct LookedUp {
  uint64_t set = 0;
  Result<std::vector<StoredSet>> stored;       // those of NAME, NAME+2, ... without a gap that the
                                               // application called so, as far as they can be read
  uint64_t taken = 0;                          // how many of these names there are
  uint64_t newest_place = 0;                   // store::newest_place() of the series
  std::optional<store::Manifest> newest = {};  // in outline: the newest set of the series
};

// Stages the set under the first of NAME, NAME+2, ... that is free, and finds the set of its series whose choices are
// remembered.
struct Stage {
  uint64_t set = 0;  // a number that was never used before: Commit and Abandon name it
  std::string name;
  std::string profile;
  uint64_t ranks = 0, group_size = 0;
  std::string series{store::kDefaultSeries};
};
struct StagedPlace {
  std::string name;    // that it will have in the store
  std::string staged;  // by which workers join it: store::StagedSet::id()
  std::string before;  // the name of the set whose choices are remembered, or empty
  std::optional<int64_t> since_chosen;
  uint64_t number = 0;  // the n-th of its names
};
struct Staged {
  uint64_t set = 0;
  Result<StagedPlace> place;
};

// Commits what lies in the staged directory. `has_others`: containers of attempts that were given up may lie there,
// too, and are removed before.
struct Commit {
  uint64_t set = 0;
  bool has_others = false;
  store::Manifest manifest;
};
struct Committed {
  uint64_t set = 0;
  Result<void> result;
  std::optional<StoreRoom> room{};  // after it; none: not known
};

struct Abandon {
  uint64_t set = 0;
};

struct ListSets {};
struct ListedSets {
  Result<std::vector<store::SetInfo>> sets;  // oldest first
};

// The application could not use the set: it is set aside (store::Store::set_aside()).
struct SetAside {
  std::string name, reason;
};
struct WasSetAside {
  std::string name;
  Result<void> result;
};

// What the retention of the series does not keep is removed (engine::prune()), beside the other commands: this one may
// read a whole set. Not while another one is under way.
struct Prune {
  std::string series;
  store::Retention retention;
};
struct WasPruned {
  Result<engine::Pruned> result;
};

using StoreCommand = std::variant<LookUp, Stage, Commit, Abandon, ListSets, SetAside, Prune>;
// One to each command but Abandon, in order, but for that to Prune.
using StoreAnswer = std::variant<LookedUp, Staged, Committed, ListedSets, WasSetAside, WasPruned>;

}  // namespace forebay::job
