// One rank group of a pack: its files become one container.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>

#include "base/rate_limit.h"
#include "engine/pack/group_report.h"
#include "engine/pack/pack.h"
#include "engine/pack/parent_matcher.h"
#include "engine/pack/read_group.h"
#include "engine/pack/set_before.h"
#include "engine/pack/tree.h"
#include "engine/set/sources.h"

namespace forebay::engine {

struct GroupInput {
  std::span<const SourceFile> files;  // by rank, then name
  Sources& sources;                   // of these files
  // Makes the group's catalogue in at most `memory_bytes`: empty, or merge_headers() of what the nodes sent. Empty:
  // read_group(). Called once.
  std::function<Result<GroupCatalogue>(uint64_t memory_bytes)> catalogue = {};
};

struct GroupOutput {
  store::StagedContainers& set;  // that the container is written into
  std::string name;              // of the container, which must not exist
  RateLimit* limit = nullptr;    // what is written is taken from it, frame by frame; null: no limit
};

struct GroupHooks {
  // A frame of so many bytes was written, and the container has so many by now; from the calling thread.
  std::function<void(uint64_t raw_bytes, uint64_t container_bytes)> delivered = {};
  std::stop_token stop = {};  // looked at between frames, and between reads
};

// Packs the files of `input` into a container and makes it durable. Frames that `parent` finds are not stored again;
// of others, only what differs from the frame at their place there is stored where that takes less. `parent` is null
// without one. `remembered` is of the same rank group in the set before. Of `options`, what says how to
// pack counts: similarity and format (if the catalogue is not given), scheme, profile and lossy. `resources` are
// resolved, their memory is that for buffers alone. On error the container is left half-written, for the
// caller to remove. Errors as of pack() and of the sources; cancelled soon after a stop is requested. Thread-safe
// for different outputs.
Result<GroupReport> pack_group(const GroupInput& input, const GroupOutput& output, const PackOptions& options,
                               const Resources& resources, ParentMatcher* parent, const Remembered& remembered,
                               const GroupHooks& hooks);

// With less memory for buffers than this, pack_group() makes smaller frames than the scheme and the profile want.
uint64_t memory_for_full_frames(const PackOptions& options);

}  // namespace forebay::engine
