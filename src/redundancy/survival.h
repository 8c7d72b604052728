// How likely a protected set is to outlive the loss of nodes. Pure.
#pragma once

#include <cstdint>
#include <span>

namespace forebay::redundancy {

// That `failed` nodes, taken at random from all of the groups, leave one of these groups with more losses than it
// survives: 0 to 1. `group_sizes`: members of each group.
double loss_probability(std::span<const unsigned> group_sizes, unsigned losses, unsigned failed);

}  // namespace forebay::redundancy
