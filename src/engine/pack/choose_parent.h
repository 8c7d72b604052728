// Which set a new one may refer to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/pack/pack.h"
#include "engine/pack/parent_matcher.h"
#include "store/store.h"

namespace forebay::engine {

// What pack() looks for frames in: the set that `options` name. None, with a remark, if it is time for a full set, or
// "latest" is wanted of a store that has no set of their series yet. not_found if another name is not there.
Result<std::optional<Parent>> choose_parent(const store::Store& store, const PackOptions& options,
                                            uint64_t memory_bytes, std::vector<std::string>& remarks);

// The part of a pack's memory that a parent takes: its table and indices, and frames that are compared.
constexpr uint64_t parent_share(uint64_t memory_bytes) { return memory_bytes / 8 * 3; }

}  // namespace forebay::engine
