// Files out of open containers into a target: what restore() is made of, and a job's restart.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <stop_token>
#include <vector>

#include "base/catalogue.h"
#include "engine/options.h"
#include "engine/restore/target.h"
#include "engine/set/set.h"
#include "store/store.h"

namespace forebay::engine {

// The part of one container that is written.
struct Selection {
  const OpenContainer* container = nullptr;
  std::vector<bool> wanted;      // per file
  std::vector<uint32_t> frames;  // that hold bytes of wanted files

  bool is_empty() const;  // whether no file is wanted
};

// `container` must outlive the selection.
Selection select(const OpenContainer& container, const std::function<bool(const FileRow&)>& is_wanted);

// Entries of all kinds.
struct WrittenFiles {
  uint64_t files = 0, bytes = 0;
};

// Writes what is selected into `target`, whose finish() is the caller's. Every byte is checked before it is written,
// and files get their names only when all of them have been written and verified: after an error in doing so none has.
// `resources` are resolved, and their memory is for frames alone. Errors: corrupt (naming container and frame or file;
// there are find_misfits(), too), limit, those of the target and of reading; cancelled soon after `stop` is requested,
// unless files have begun to get their names.
Result<WrittenFiles> write_files(std::span<const Selection> selections, Target& target, const Resources& resources,
                                 std::stop_token stop = {});

// Opens the container `entry` of `set`, and write_files()s those of its files, directories and links that `ranks` wrote
// (directories, links and files in no series are rank 0's). Nothing happens if there are none. `resources` are
// resolved, and their memory, for buffers alone, also pays for the container's index and those of the parents. Errors
// as of write_files(), and corrupt if the container is missing, damaged, or not the one that the manifest lists.
Result<WrittenFiles> write_container_files(const store::SetInfo& set, const store::ContainerEntry& entry,
                                           const std::set<uint32_t>& ranks, Target& target, const Resources& resources,
                                           std::stop_token stop = {});

}  // namespace forebay::engine
