// advise: which scheme, block size, group size and profile suit a directory of checkpoints.
#pragma once

#include <string>
#include <vector>

#include "engine/pack.h"

namespace forebay::engine {

// One way of packing, tried on a sample.
struct Trial {
  std::string scheme;
  uint64_t block_bytes = 0;  // 0 where it does not matter
  uint64_t group_size = 0;   // ranks
  std::string profile;
  uint64_t raw_bytes = 0, stored_bytes = 0;
  double encode_seconds = 0, decode_seconds = 0;  // of one thread

  double ratio() const { return stored_bytes ? static_cast<double>(raw_bytes) / static_cast<double>(stored_bytes) : 0; }
};

struct Advice {
  std::vector<Trial> trials;  // the first one is the baseline: agnostic with gzip
  Trial recommended;          // of the trials: the best ratio among those that encode at min_mb_per_s or more
  uint64_t sampled_bytes = 0, total_bytes = 0;
  uint64_t ranks = 0;
};

struct AdviseOptions {
  std::vector<std::string> sources;
  uint64_t sample_bytes = 64 << 20;  // taken as whole ranks, spread evenly
  double min_mb_per_s = 200;         // per thread
  merge::Similarity similarity;
  format::FormatOptions format;
  Resources resources;
};

// Encodes and decodes the sample in memory under each combination, and checks that it comes back.
Result<Advice> advise(const AdviseOptions& options);

}  // namespace forebay::engine
