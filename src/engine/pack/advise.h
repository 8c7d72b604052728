// advise: which scheme, block size, group size and profile suit a directory of checkpoints.
#pragma once

#include <string>
#include <vector>

#include "engine/pack/pack.h"

namespace forebay::engine {

// One way of packing, tried on a sample.
struct Trial {
  std::string scheme;
  uint64_t block_bytes = 0;  // 0 where it does not matter
  uint64_t group_size = 0;   // ranks
  std::string profile;
  uint64_t raw_bytes = 0, stored_bytes = 0;       // stored: with an estimate of the index
  double encode_seconds = 0, decode_seconds = 0;  // of one thread

  double ratio() const { return stored_bytes ? static_cast<double>(raw_bytes) / static_cast<double>(stored_bytes) : 0; }
  double mb_per_s() const { return encode_seconds > 0 ? 1e-6 * static_cast<double>(raw_bytes) / encode_seconds : 1e9; }
};

struct Advice {
  std::vector<Trial> trials;  // the first one is the baseline: agnostic with gzip
  Trial recommended;          // recommend() of them
  Trial best_ratio;           // of the trials: that of the recommended one, unless that was passed over as too slow
  uint64_t sampled_bytes = 0, total_bytes = 0;  // sampled: by the largest of the trials
  uint64_t ranks = 0;
};

struct AdviseOptions {
  std::vector<std::string> sources;
  uint64_t sample_bytes = 64 << 20;  // encoded per trial, about: frames spread evenly over the plan of up to 64 ranks,
                                     // which are spread evenly over the set
  double min_mb_per_s = 200;         // per thread
  merge::Similarity similarity;
  format::FormatOptions format;
  Resources resources;
};

// The best ratio among those that encode at `min_mb_per_s` or more; if none does, the fastest. `trials` are some. Pure.
const Trial& recommend(const std::vector<Trial>& trials, double min_mb_per_s);

// Encodes and decodes a sample in memory under many combinations, and checks that it comes back: all schemes with gzip
// and balanced, then the best one's other profiles and smaller groups. Stores nothing. Errors: not_found, permission,
// io or changed (a source), limit (the memory budget), invalid_argument (there are no bytes to try).
Result<Advice> advise(const AdviseOptions& options);

}  // namespace forebay::engine
