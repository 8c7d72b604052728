// What became of a conversion.
#pragma once

#include <cstdint>

#include "convert/plan/plan.h"

namespace forebay::convert {

struct Converted {
  Plan plan;
  uint64_t holes = 0;  // elements that no rank wrote, which are 0
  view::ReadCost cost;
};

}  // namespace forebay::convert
