// Which frame groups hold the same cells: variables that may be told by each other.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/plan.h"

namespace forebay::merge {

// Families of companions: groups of one floating-point type and one block size, each of one key, whose streams are
// arrays of the same shapes, in the same order, from the same files. Frame i of one companion holds the cells of frame
// i of every other. Families have at least two groups, ascending; groups without a companion are in none.
std::vector<std::vector<uint32_t>> companion_groups(const Plan& plan);

}  // namespace forebay::merge
