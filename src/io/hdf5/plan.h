// Which datasets of an HDF5 file hold what ranks wrote. Pure: rank 0 decides this from what all ranks tell it.
//
// What is written in the first step lies where its name says, as groups and datasets below the root; what is written in
// step N after that lies below the group /step_N. A global array is one dataset, with the blocks of all ranks. A local
// array is a group with a dataset rank_R for each rank, and rank_R_K if one rank wrote several. A scalar or a string is
// one value if all ranks wrote the same, and a list of all values in the order of ranks otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "forebay/forebay_method.h"

namespace forebay::hdf5 {

inline constexpr uint64_t kNowhere = UINT64_MAX;  // of a block: rank 0 writes it, or nobody

// What a rank tells of one block. Bytes are told of scalars and strings only.
struct Told {
  uint64_t step = 0;
  std::string name;
  int32_t type = 0;
  bool is_array = false, is_global = false;
  std::vector<uint64_t> shape, global_shape, offsets;
  std::string bytes;
};

// All that a rank wrote, and back; false if a message is not one.
std::string to_message(std::span<const forebay_method_step> steps);
bool from_message(std::string_view message, std::vector<Told>& told);

struct Dataset {
  int32_t type = 0;
  std::vector<uint64_t> shape;      // empty: one value
  std::vector<std::string> values;  // of scalars and strings, which rank 0 writes; empty for arrays
  bool is_list = false;             // whether a list of values has a shape
};

struct Plan {
  std::map<std::string, Dataset> datasets;             // by path from the root, without the first '/'
  std::vector<std::vector<const Dataset*>> of_blocks;  // by rank, by block: where it goes, or nullptr
  std::vector<std::string> refusals;                   // by rank: why it has a block that goes nowhere, or empty
  uint64_t steps = 0;                                  // one more than the last, or 0
};

Plan plan(const std::vector<std::vector<Told>>& by_rank);

// The bytes of one element: 16 for long double and 1 for a character of a string; 0 for what is no type of values.
uint64_t element_bytes(int32_t type);

// Where a name lies in a step: its parts joined by one '/'; empty if it cannot be the name of an object.
std::string object_path(uint64_t step, std::string_view name);

}  // namespace forebay::hdf5
