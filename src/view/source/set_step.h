// A set of a store as a step.
#pragma once

#include <memory>

#include "engine/set/shared_reader.h"
#include "store/store.h"
#include "view/place/arrays.h"
#include "view/source/run.h"

namespace forebay::view {

// Opens the containers of a set, and finds out what lies where. `info.manifest` can be read; `number` is the step's
// place in its run; `index_bytes` pays for the indices. changed if the set was removed; corrupt, limit, io.
struct OpenedStep {
  std::shared_ptr<const Step> step;
  uint64_t memory_bytes = 0;  // of indices and arrays, roughly
};
Result<OpenedStep> open_set_step(const store::SetInfo& info, uint64_t number, uint64_t index_bytes,
                                 std::shared_ptr<engine::FrameCache> cache, const RunOptions& options);

}  // namespace forebay::view
