// How well checkpoints can be packed: from a store, or by packing a sample.
#pragma once

#include <string>

#include "base/error.h"
#include "codec/choice/chooser.h"
#include "engine/options.h"

namespace forebay::cli {

struct PackingMeasure {
  double ratio = 0;         // raw bytes / stored bytes
  double codec = 0;         // raw bytes per second, with all threads; 0: not known
  uint64_t raw_bytes = 0;   // that this was measured on
  bool is_store = false;    // it was a store
  std::string description;  // "the newest set of STORE", for people
};

// `path` is a store, whose newest set has the ratio; or a directory, whose
// files are packed into a store in $TMPDIR that is removed again. Errors: those of engine::pack() and of stores.
Result<PackingMeasure> measure_packing(const std::string& path, const codec::Profile& profile,
                                       const engine::Resources& resources);

}  // namespace forebay::cli
