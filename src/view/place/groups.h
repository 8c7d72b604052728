// What a program of adaptable I/O declared, as the files of its ranks keep it beside the catalogue of a set.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "view/model/array.h"

namespace forebay::view {

// A variable as the program knows it.
struct GroupVariable {
  std::string name;  // exactly, with or without a '/' in front
  std::string group;
  io::ValueType type = io::ValueType::int8;
  bool is_array = false;  // else a scalar or a string
  bool fortran_order = false;

  auto operator<=>(const GroupVariable&) const = default;
};

struct GroupContents {
  std::vector<GroupVariable>
      variables;                      // of each group, name and type one, in the order in which they were first written
  std::vector<size_t> writes;         // of each block that has bytes, in the order of the file: which of `variables`
  std::vector<Attribute> attributes;  // of each name the value that was written last; by name
  uint32_t time_index = 0;            // the last one
};

}  // namespace forebay::view
