// The options that say how files are to be packed: those of pack, advise, and the drain of running jobs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/syntax.h"
#include "engine/pack/lossy.h"
#include "engine/pack/pack.h"
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

struct Compression {
  std::string scheme = "auto", profile = "balanced";
  uint64_t block_bytes = 0;  // 0: the scheme's own
  std::vector<engine::LossyRule> lossy;
};

// --scheme, --block-size, --profile and --lossy, with a table of the profiles.
void declare_compression(Syntax& syntax, Compression& compression);

// Sets scheme, profile and lossy of `options`; to be called after parsing.
Result<void> complete(const Compression& compression, engine::PackOptions& options);

}  // namespace forebay::cli
