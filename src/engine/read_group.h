// The first step of packing a rank group: from files to a directory.
#pragma once

#include <string>
#include <vector>

#include "base/directory.h"
#include "engine/options.h"
#include "engine/sources.h"
#include "engine/tree.h"
#include "format/reader.h"
#include "merge/similarity.h"

namespace forebay::engine {

struct GroupDirectory {
  Directory directory;
  std::vector<std::string> remarks;  // of the format readers, each with the file's path
};

// Reads the layouts of all files of a rank group, several at a time, and classifies their variables. A regular file
// NAME is described by NAME.forebay.toml, if that is among `files` too (docs/raw-binary.md). limit if the directory
// does not fit into `memory_bytes`.
Result<GroupDirectory> read_group(std::span<const SourceFile> files, Sources& sources,
                                  const merge::Similarity& similarity, const format::FormatOptions& format,
                                  uint64_t memory_bytes, unsigned threads);

}  // namespace forebay::engine
