// diff: what differs between two sets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "engine/inspect/compare_elements.h"
#include "engine/options.h"
#include "store/store.h"

namespace forebay::engine {

// bytes: of a regular file; metadata: name, mode, time, kind or link target only.
enum class Change : uint8_t { added, removed, bytes, metadata };
const char* to_string(Change change);  // "added", ...

struct VariableDifference {
  std::string_view path;  // one of Differences::paths
  // Its `elements` are UINT64_MAX, and nothing else of it is known, if shape or type differ, if only one file has the
  // variable, or if elements cannot be told apart, because its chunks went through a filter that is not known.
  ElementDifference difference;
};

struct FileDifference {
  std::string name;        // in the first set; of an added file, in the second
  std::string other_name;  // in the second set, where it has another name there; else empty
  Change change = Change::bytes;
  std::vector<VariableDifference> variables;  // of a file whose bytes differ; empty if only its skeleton does
};

struct Differences {
  std::vector<FileDifference> files;      // in order of names
  std::unordered_set<std::string> paths;  // of variables
};

// Compares the files of two sets, as match_files() finds them to be counterparts, and those whose bytes differ variable
// by variable. Files of equal size and CRC-64 are taken as equal without reading them. One container of each set is
// open at a time. `resources` are resolved, and their memory is for buffers alone. corrupt if a container, or a frame
// that must be read, is damaged; limit if the memory cannot hold the frames of a variable, a variable that the two sets
// store in different blocks, or what differs.
Result<Differences> diff(const store::SetInfo& a, const store::SetInfo& b, const Resources& resources);

}  // namespace forebay::engine
