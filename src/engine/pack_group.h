// One rank group of a pack: its files become one container.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/base_matcher.h"
#include "engine/pack.h"
#include "engine/set_before.h"
#include "engine/tree.h"
#include "store/store.h"

namespace forebay::engine {

// What pack() adds up over its rank groups.
struct GroupReport {
  store::ContainerEntry entry;
  uint64_t variables = 0, frames = 0, payload_bytes = 0;
  std::vector<LossyOutcome> lossy;      // one per rule
  std::vector<store::BaseEntry> bases;  // in the order of the names, without the times
  StageSeconds cpu_seconds;
  std::vector<std::string> remarks;
};

// Packs `files` into the container `directory`/`name` and makes it durable. Frames that `base` finds are not stored
// again; it is null without a base. `remembered` is of the same rank group in the set before.
// `resources` are resolved, their memory is that for buffers alone; `delivered` is
// called from the calling thread with the raw bytes of each frame that was written. On error the container is left
// half-written, for the owner of the directory to remove. Errors as of pack().
Result<GroupReport> pack_group(std::span<const SourceFile> files, const std::string& directory, const std::string& name,
                               const PackOptions& options, const Resources& resources, BaseMatcher* base,
                               const Remembered& remembered, const std::function<void(uint64_t raw_bytes)>& delivered);

}  // namespace forebay::engine
