// The first step of packing a rank group: from files to a catalogue.
#pragma once

#include <string>
#include <vector>

#include "base/catalogue.h"
#include "engine/pack/read_layouts.h"
#include "engine/pack/tree.h"
#include "engine/set/sources.h"
#include "format/reader.h"
#include "merge/similarity.h"

namespace forebay::engine {

struct GroupCatalogue {
  Catalogue catalogue;
  std::vector<std::string> remarks;  // of the format readers, each with the file's path
};

// Reads the layouts of all files of a rank group, several at a time, and classifies their variables. Errors as of
// read_layouts().
Result<GroupCatalogue> read_group(std::span<const SourceFile> files, Sources& sources,
                                  const merge::Similarity& similarity, const format::FormatOptions& format,
                                  uint64_t memory_bytes, unsigned threads);

// The same, from layouts of `files`.
GroupCatalogue group_catalogue(Layouts layouts, std::span<const SourceFile> files);

}  // namespace forebay::engine
