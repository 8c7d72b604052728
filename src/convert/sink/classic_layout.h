// A file of netCDF's classic format as bytes: its header, and where each array lies behind it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "convert/plan/plan.h"

namespace forebay::convert {

struct ClassicLayout {
  Bytes header;
  std::vector<uint64_t> begins;  // of each dataset of the plan
  uint64_t bytes = 0;            // of the whole file
};

// Version 2 of the format (64-bit offsets) where it has all types and sizes, else version 5 (CDF-5). Its names have no
// '/': where a path has one, the name has a '.'; of two that become the same, one gets '_' behind it. limit if there
// are more dimensions or arrays than the format can count.
Result<ClassicLayout> classic_layout(const Plan& plan);

// The numbers of the types that the format has: 0 for others.
uint32_t classic_type(const view::ElementType& type);

}  // namespace forebay::convert
