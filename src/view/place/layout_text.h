// A layout: what a user says of where blocks lie (docs/reading.md, "Layouts"). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/shape.h"

namespace forebay::view {

struct LayoutArray {
  uint32_t line = 0;                // where it begins in the text
  std::string name;                 // what the array is called
  std::string variables;            // a shell pattern of the paths of the variables that are its blocks
  std::string files;                // likewise of the names of their files
  Shape shape;                      // of the array; empty: as large as its blocks together
  Shape ranks;                      // along each dimension; empty if `offset` says where blocks lie
  bool is_fortran = false;          // ranks count along the first dimension first, vectors list the last one first
  Shape ghosts;                     // cells at either end of each dimension of what is stored; empty: none
  std::vector<std::string> offset;  // "/variable", "/object@attribute" or "@attribute": one with all, or one each
  int64_t base = 0;                 // what offsets count from
};

// invalid_argument, naming line and key.
Result<std::vector<LayoutArray>> parse_layout(std::string_view text);

}  // namespace forebay::view
