// What the set before tells of how to pack the next one: data change little from step to step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/chain.h"
#include "engine/pack/relations.h"
#include "store/store.h"

namespace forebay::engine {

// How a frame was encoded, and how small it became.
struct RememberedFrame {
  codec::Chain chain;  // without parameters; empty: nothing is remembered
  double share = 1;    // payload bytes / raw bytes

  // Whether `payload_bytes` for `raw_bytes`, of a sample perhaps, is about as small.
  bool still_holds(uint64_t payload_bytes, uint64_t raw_bytes) const;
};

struct Remembered {
  std::vector<NamedRelation> relations;
  std::map<std::string, std::vector<RememberedFrame>> frames;  // by similarity key: those of the group, in order

  // What is remembered of frame `number` of `plan`; null if nothing, or if the group has another number of frames now.
  const RememberedFrame* find(const merge::Plan& plan, uint32_t number) const;
};

// The set that is remembered when the next one is packed.
struct SetBefore {
  std::string name;                     // of the set; empty: nothing is remembered
  std::optional<int64_t> since_chosen;  // of the next set's manifest
};

// The newest of `sets` (Store::list() or outline()) that is of this profile, and of as many ranks in as large
// groups: what was good for its frames may be for the next one's. From time to time there is none, and all is chosen
// anew, lest what gets a little worse from set to set is never noticed. Pure.
SetBefore find_set_before(std::span<const store::SetInfo> sets, std::string_view profile, uint64_t ranks,
                          uint64_t group_size);

// Reads it from a container of `set`. Empty if that is not there, or cannot be opened within `memory_bytes`.
Remembered remember(const store::SetFiles& set, const std::string& container, uint64_t memory_bytes);

}  // namespace forebay::engine
