// Which files of two sets are the same files of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/catalogue.h"

namespace forebay::engine {

struct FileLabel {
  std::string_view name;
  uint32_t rank = 0;
  FileKind kind = FileKind::regular;
};

struct LabelledSet {
  std::string_view name;
  std::span<const FileLabel> files;  // of distinct names
};

// For each file of `a` the number of its counterpart among the files of `b`, if it has one; no two have the same. Files
// of one name are counterparts. Of the others those are, that have the same kind and rank, and names that are equal but
// for the name of the dump: with each set's own name taken out, or else but for numbers that all files of `a` whose
// names look alike have in common, and all those of `b` ("DD0002.cpu0007", "DD0005.cpu0007"). Where several files would
// do, none is a counterpart. Pure.
std::vector<std::optional<size_t>> match_files(const LabelledSet& a, const LabelledSet& b);

}  // namespace forebay::engine
