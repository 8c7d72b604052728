// The values of companion variables at a few of their cells.
#pragma once

#include <span>
#include <vector>

#include "codec/relation/relation_search.h"
#include "engine/set/sources.h"
#include "merge/plan.h"

namespace forebay::engine {

// Reads stretches of rows, with the rows before them that Lorenzo's prediction looks at, at places spread evenly over
// the frame groups `family` (companions, merge/companions.h). One entry per group, all at the same cells; without
// cells where nothing changes in any of the groups, or where a value is not finite or is very large. Errors as of the
// sources.
Result<std::vector<codec::FieldSample>> sample_family(const merge::Plan& plan, std::span<const uint32_t> family,
                                                      Sources& sources);

}  // namespace forebay::engine
