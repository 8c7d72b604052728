// The arrays of a set, from the catalogues of its containers. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/meaning.h"
#include "engine/set/set.h"
#include "view/model/array.h"

namespace forebay::view {

// A variable of a file of the set, which blocks are parts of.
struct StoredArray {
  size_t container = 0;
  uint32_t file = 0, variable = 0;  // in that container's catalogue
  // Whether its dimensions are those of the catalogue from the last to the first (engine/set/array_order.h). Everybody
  // but who reads its bytes sees it in its own order.
  bool reversed = false;
  // What its values mean, and the type that they are read as; null: what is stored is read.
  std::shared_ptr<const Meaning> meaning;
  DataType read_as;
  bool has_bounds = true;  // whether characteristics and cubes are of the values that are read
};

// Arrays with their blocks. Blocks' stored arrays are places in `stored`.
struct Arrays {
  std::vector<StoredArray> stored;
  std::vector<Array> arrays;               // by name
  std::vector<std::vector<Block>> blocks;  // of each array
  std::vector<std::string> remarks;  // what was taken as it is because somebody's description of it makes no sense

  // Adds an array; how many blocks it has and their characteristics together follow from `blocks`.
  void add(Array array, std::vector<Block> blocks);

  // Puts arrays in the order of their names. Of several arrays of one name all but the one with most blocks are called
  // NAME:TYPE.
  void finish();
};

// All variables of all files, in the order of ranks, files and places.
std::vector<StoredArray> stored_arrays(const engine::OpenSet& set);

// What the catalogue alone says of those of them that `is_taken` does not name: arrays by path, with the places that
// process groups have told. Where a rank has one path in files of several kinds, which differ in their names by more
// than numbers and the suffix, these are arrays of their own: rho.0003.npy and temp.0003.npy have "rho" and "temp",
// fluid.3.h5 and solid.3.h5 "fluid/u" and "solid/u". Added to `arrays`, whose `stored` they are.
void add_plain_arrays(const engine::OpenSet& set, const std::vector<bool>& is_taken, Arrays& arrays);

// The name of a variable's array: its path without the leading '/'.
std::string plain_name(const FileRow& file, const std::string& path);

}  // namespace forebay::view
