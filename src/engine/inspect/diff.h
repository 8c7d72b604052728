// diff: what differs between two sets.
#pragma once

#include <string>
#include <vector>

#include "engine/set/set.h"

namespace forebay::engine {

// bytes: of a regular file; metadata: name, mode, time, kind or link target only.
enum class Change : uint8_t { added, removed, bytes, metadata };

struct VariableDifference {
  std::string path;
  uint64_t differing_elements = 0;  // UINT64_MAX if shape or type differ, if only one file has the variable, or if it
                                    // is stored through filters or in parts, so that elements cannot be told apart
  double max_absolute = 0;          // largest difference of two finite values; 0 if not numbers
};

struct FileDifference {
  std::string name;        // in the first set; of an added file, in the second
  std::string other_name;  // in the second set, where it has another name there; else empty
  Change change = Change::bytes;
  std::vector<VariableDifference> variables;  // of a file whose bytes differ; empty if only its skeleton does
};

// Compares the files of two sets, as match_files() finds them to be counterparts, and those whose bytes differ variable
// by variable. In order of names. Files
// of equal size and CRC-64 are taken as equal without reading them. corrupt if a frame that must be read is damaged;
// limit if `memory_bytes` cannot hold the frames of a variable, or a variable that the two sets store in different
// blocks.
Result<std::vector<FileDifference>> diff(const OpenSet& a, const OpenSet& b, uint64_t memory_bytes);

}  // namespace forebay::engine
