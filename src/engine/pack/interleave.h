// Scheme `auto`: which variable groups gain from interleaving.
#pragma once

#include <vector>

#include "base/catalogue.h"
#include "base/plan_spec.h"
#include "codec/choice/chooser.h"
#include "engine/set/sources.h"

namespace forebay::engine {

// PlanSpec::key_block_bytes for scheme aware: for each variable group that spans several frames, encodes the same
// sample (the beginnings of adjacent ranks' streams) concatenated and interleaved in blocks of spec.block_bytes, and
// interleaves the groups that come out smaller by a margin. Groups of less than eight frames are concatenated untried:
// most of their streams share a frame anyway. Reads at most one frame's bytes for each group that it tries.
Result<std::vector<uint64_t>> choose_interleaving(const Catalogue& catalogue, const PlanSpec& spec,
                                                  const codec::Profile& profile, Sources& sources);

}  // namespace forebay::engine
