// Whether the blocks of one array go together.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "view/check/consistency.h"
#include "view/source/step.h"

namespace forebay::view {

// Tells of gaps, overlaps, blocks outside of the array and other numbers of dimensions; where blocks overlap and
// `values` is set, only of those that have different bytes there. Adds what reading cost.
void check_array(const Step& step, size_t array, const std::vector<Block>& blocks, bool values,
                 const std::function<void(Inconsistency)>& say, ReadCost& cost);

// The first kMostRanksNamed of them.
std::vector<uint32_t> first_ranks(const std::set<uint32_t>& ranks);

// "1 rank", "3 ranks".
std::string counted(uint64_t count, const char* noun);

}  // namespace forebay::view
