// Decides what a conversion makes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "convert/plan/plan.h"

namespace forebay::convert {

// What is wanted of a run.
struct Wish {
  std::vector<std::string> names;   // of arrays, or shell patterns of them; empty: all
  std::vector<std::string> except;  // shell patterns of arrays that are left out
  std::vector<uint64_t> steps{0};   // of the run, rising; one at least
  bool is_meant = false;            // the run gives what values mean: attributes that say so are not taken along
  bool keeps_stored = false;        // what is stored is wanted, whether attributes can say what it means or not
  std::string fill;                 // of elements that no rank wrote, for element_of(); empty: 0, or their _FillValue
  bool step_groups = false;         // each step in a group of its own, also where steps agree
  Shape chunk;                      // of arrays with as many dimensions; those of steps and blocks do not count

  // The part of a global array that is wanted: null for all of each. Its errors end the planning; when all arrays were
  // looked at if they are invalid_argument, so that all of these arrays are named.
  std::function<Result<view::Strided>(const view::Array& array)> part;
};

// What the target can hold.
struct Abilities {
  std::string_view target;  // as messages call it: "HDF5"
  bool (*holds)(const view::ElementType& type) = nullptr;
  bool holds_empty = true;  // arrays without elements
  bool is_chunked = false;  // arrays are cut into chunks of equal shape
};

// Opens each step once and reads indices, never values. Errors: those of opening steps and of Wish::part; not_found if
// a name matches no array of any step; unsupported, naming every array and its type, if the target cannot hold some;
// limit if there would be more than 2^20 datasets.
Result<Plan> make_plan(const view::Run& run, const Wish& wish, const Abilities& abilities);

}  // namespace forebay::convert
