// The XML file that tells what a program writes, and how: from its text to definitions.
//
// The file is hostile until it has been read: it is bounded in size and depth, and nothing in it is fetched from
// anywhere (what stands in a DOCTYPE is skipped, entities of its own are left as they are written). It may be a little
// less than well-formed XML, as files of ADIOS 1.x are: values of attributes need no quotes if there are no blanks in
// them, and names of elements and attributes count in any case.
//
// What cannot be understood is an error with file, line and column; what can be left out is a warning.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/group/definition.h"
#include "io/group/failure.h"

namespace forebay::io {

inline constexpr size_t kMaxConfigBytes = 4 << 20;
inline constexpr size_t kMaxConfigDepth = 32;      // of elements within each other
inline constexpr size_t kMaxConfigWord = 4096;     // bytes of a name, a path, a list of dimensions
inline constexpr size_t kMaxConfigWarnings = 100;  // more are counted, not told

// `file` is only for messages. `free_memory` in bytes is what free-memory-percentage is of.
// Of a file that is refused, the warnings before the error go to `of_refused`: often they tell the cause.
Outcome<Config> parse_config(std::string_view text, const std::string& file, uint64_t free_memory,
                             std::vector<std::string>* of_refused = nullptr);

// The text of a file. missing_config if it cannot be read, invalid_xml if it is larger than kMaxConfigBytes.
Outcome<std::string> read_config_text(const std::string& path);

// Both, with the memory that is free now.
Outcome<Config> read_config(const std::string& path, std::vector<std::string>* of_refused = nullptr);
uint64_t free_memory_now();  // bytes; 0 if it cannot be told

}  // namespace forebay::io
