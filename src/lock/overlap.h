// Do two regions have a byte in common?
#pragma once

#include "lock/region.h"

namespace forebay::lock {

// Compares bounding boxes of regions and of their terms, then terms by the arithmetic of their strides; no list of
// segments is ever walked. Terms that nest (each level's stride at least as long as the block that it repeats) take a
// few steps for each pair of levels if their strides are equal or divide each other, and one walk over the phases at
// which their blocks meet otherwise. Ordered lists of terms are searched, others swept, which allocates.
//
// Exact, but for one case: two terms that have not been told apart within kTermEffort steps (term_overlap.h) count as
// overlapping. That takes blocks of several levels whose strides do not divide each other, which meet at tens of
// thousands of different phases without ever having a byte in common.
//
// Every step is taken from `effort`; when nothing is left, the answer is true.
bool overlap(const Region& a, const Region& b, uint64_t& effort);

// With enough effort for a few million terms; a quarter of a second in the worst case.
bool overlap(const Region& a, const Region& b);

}  // namespace forebay::lock
