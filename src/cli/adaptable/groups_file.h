// Files of process groups, as adaptable I/O writes them (src/io/file), told to people and to scripts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/verb.h"
#include "io/file/file_reader.h"

namespace forebay::cli {

// The file at `path` if it is one of process groups, else null. Errors as of io::FileReader::open().
Result<std::unique_ptr<io::FileReader>> open_groups_file(const std::string& path, uint64_t memory_bytes);

// Makes the whole process groups of an unfinished step visible, and tells how many there are: damaged if some are not
// whole. Errors as of io::GrowingFile::mend().
Result<ExitCode> repair_groups_file(const std::string& path, uint64_t memory_bytes, const Console& console);

// Tells what the file has: steps, groups, variables with their characteristics, attributes.
void show_groups_file(const std::string& path, const io::FileReader& reader, const Console& console);

}  // namespace forebay::cli
