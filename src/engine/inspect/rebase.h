// rebase: a set stored again without some of the sets that it has frames in.
#pragma once

#include <set>
#include <string>

#include "engine/options.h"
#include "store/store.h"

namespace forebay::engine {

struct RebaseReport {
  uint64_t frames = 0, raw_bytes = 0;  // that lay in the other sets, and are the set's own now
  uint64_t stored_bytes = 0;           // of the set, now
};

// Puts what the set `name` has in the sets `without` into itself. Name, time of creation and all else that its manifest
// says stay, and so do its containers' identifiers and numbers of frames: sets that refer to it still do. Every frame
// is decoded and checked on its way; containers that have nothing in those sets are shared with what was there before.
// The set is replaced in one instant, when all of it is durable, and stays as it is after an error: corrupt (also of
// the other sets), changed if it was replaced by another one meanwhile, unsupported where the file system cannot
// exchange two directories, those of reading and writing.
Result<RebaseReport> rebase(const store::Store& store, const std::string& name, const std::set<std::string>& without,
                            const Resources& resources);

}  // namespace forebay::engine
