// The first step of packing a rank group: from files to a directory.
#pragma once

#include <string>
#include <vector>

#include "base/directory.h"
#include "engine/pack/read_layouts.h"
#include "engine/pack/sources.h"
#include "engine/pack/tree.h"
#include "format/reader.h"
#include "merge/similarity.h"

namespace forebay::engine {

struct GroupDirectory {
  Directory directory;
  std::vector<std::string> remarks;  // of the format readers, each with the file's path
};

// Reads the layouts of all files of a rank group, several at a time, and classifies their variables. Errors as of
// read_layouts().
Result<GroupDirectory> read_group(std::span<const SourceFile> files, Sources& sources,
                                  const merge::Similarity& similarity, const format::FormatOptions& format,
                                  uint64_t memory_bytes, unsigned threads);

// The same, from layouts of `files`.
GroupDirectory group_directory(Layouts layouts, std::span<const SourceFile> files);

}  // namespace forebay::engine
