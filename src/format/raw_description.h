// Descriptions of raw binary files: docs/raw-binary.md defines their language.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/layout.h"

namespace forebay::format {

struct RawRepeat {
  std::optional<uint64_t> count;  // none: as many as the file holds
  uint64_t stride = 0;            // bytes from one repetition to the next, 1 at least
};

struct RawVariable {
  std::string name;
  DataType type;
  Shape shape;
  uint64_t offset = 0;  // bytes behind the group's offset
};

// Variables that repeat together. A variable that the description puts into no group has one for itself, without a
// name.
struct RawGroup {
  std::string name;
  uint64_t offset = 0;
  std::optional<RawRepeat> repeat;
  std::vector<RawVariable> variables;
};

struct RawFile {
  std::string match;  // a glob, "*" if the description has none
  std::vector<RawGroup> groups;
};

// invalid_argument, naming the line where it can, if `text` is no description.
Result<std::vector<RawFile>> parse_raw_description(std::string_view text);

// The first entry that applies to the file `name`, or null. A glob without '/' is compared with the last component.
const RawFile* find_raw_file(const std::vector<RawFile>& files, const std::string& name);

// The layout that `description` gives a file of `file_size` bytes. Variables that do not fit have an extent that passes
// the end. limit if repetitions exceed kMaxExtentsPerFile.
Result<Layout> lay_out_raw(const RawFile& description, uint64_t file_size);

}  // namespace forebay::format
