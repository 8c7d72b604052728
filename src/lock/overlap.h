// Do two regions have a byte in common?
#pragma once

#include "lock/region.h"

namespace forebay::lock {

// Exact. Compares bounding boxes, then by the arithmetic of strides, and walks both lists of segments in order of
// offset only where arithmetic cannot decide; that walk skips from one overlap of bounds to the next. Pure; allocates
// nothing unless it has to walk.
bool overlap(const Region& a, const Region& b);

}  // namespace forebay::lock
