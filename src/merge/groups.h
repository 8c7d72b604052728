// The first half of planning: which streams share frames.
#pragma once

#include <vector>

#include "base/catalogue.h"
#include "base/plan_spec.h"
#include "merge/plan.h"

namespace forebay::merge {

// The frame groups of a catalogue under a valid spec, without their frames (first_frame and frame_count are 0):
//   agnostic schemes: one group of all whole files, in the order of the catalogue
//   aware schemes:    one group per key, in the order of the keys; keys of fewer than share_bytes go together by
//                     datatype instead; then one group of all skeletons
// Empty streams are left out, and so are empty groups. Normative: docs/format.md, "Plan".
std::vector<FrameGroup> make_groups(const Catalogue& catalogue, const PlanSpec& spec,
                                    const std::vector<std::vector<Extent>>& skeletons);

}  // namespace forebay::merge
