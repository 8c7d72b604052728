// The options that say how a directory is to be packed: those of pack and advise.
#pragma once

#include "cli/syntax.h"
#include "format/reader.h"
#include "merge/similarity.h"

namespace forebay::cli {

struct Description {
  merge::Similarity similarity;
  format::FormatOptions format;
  std::string raw_file;  // --describe
  bool exact = false;
};

// --match, --exact, --describe and --opaque.
void declare_description(Syntax& syntax, Description& description);

// Reads the file of --describe; to be called after parsing.
Result<void> complete(Description& description);

}  // namespace forebay::cli
