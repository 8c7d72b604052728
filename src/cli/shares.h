// What each variable and file of a container takes of its encoded bytes. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "engine/set/set.h"

namespace forebay::cli {

// Frames hold bytes of many variables; each is charged for its part of a frame's raw bytes. Under the agnostic schemes
// frames know files only, and a variable is charged for its part of its file.
struct Shares {
  std::vector<double> variables, files;  // encoded bytes, per Catalogue variable and file
};

Shares shares_of(const engine::OpenContainer& container);

// Which frames and chains hold the variables of each key of the catalogue. Empty under the agnostic schemes.
struct KeyFrames {
  uint64_t frames = 0;
  std::set<uint32_t> chains;  // indices into Index::chains
};

std::vector<KeyFrames> frames_of_keys(const engine::OpenContainer& container);

}  // namespace forebay::cli
