// diff: what differs between two sets.
#pragma once

#include <string>
#include <vector>

#include "engine/set.h"

namespace forebay::engine {

enum class Change : uint8_t { added, removed, bytes, metadata };  // metadata: mode, time, kind or link target only

struct VariableDifference {
  std::string path;
  uint64_t differing_elements = 0;  // UINT64_MAX if shape or type differ
  double max_absolute = 0;          // largest difference of two finite values; 0 if not numbers
};

struct FileDifference {
  std::string name;
  Change change = Change::bytes;
  std::vector<VariableDifference> variables;  // of a file whose bytes differ; empty if only its skeleton does
};

// Compares the files of two sets by name, and those whose bytes differ variable by variable. In order of names.
Result<std::vector<FileDifference>> diff(const OpenSet& a, const OpenSet& b, uint64_t memory_bytes);

}  // namespace forebay::engine
