// restore: a set becomes files again, byte for byte.
#pragma once

#include <string>
#include <vector>

#include "engine/options.h"

namespace forebay::engine {

struct RestoreOptions {
  std::string store;
  std::string name;               // of a set, or "latest"
  std::string target;             // a directory; made if it does not exist
  std::vector<std::string> only;  // shell patterns on file names; empty: everything
  bool overwrite = false;         // replace files that exist
  bool special_modes = false;     // give back set-user-ID and set-group-ID bits, to whoever restores
  std::string series;             // in which "latest" is looked for; empty: the only one of the store
  Resources resources;
};

struct RestoreReport {
  std::string name;  // of the set that was restored
  uint64_t files = 0, bytes = 0;
  double seconds = 0;
  std::vector<std::string> skipped;  // with "latest": sets that are damaged, set aside or unreadable, and newer or
                                     // maybe, each with the reason
  std::vector<std::string> unread;   // with `only`: containers that are damaged as a whole, each with the reason; files
                                     // in them are not restored, and not even known
  std::vector<std::string> without_special_modes;  // names of files and directories that had such bits, and have not
};

// Restores a set (or, with `only`, some of its files) beneath `target`. Every byte is checked before it is written, and
// files get their names only when all that was asked for has been written and verified: on any error `target` is as it
// was, but for new empty directories. "latest" is the newest set that is intact: those that are damaged, cannot be
// read or were set aside are skipped, and named in the report. Errors: those of store::choose_series(), not_found,
// exists (a file is there, and not `overwrite`), corrupt (naming container, frame and the files that suffer), no_space,
// io, permission, limit.
Result<RestoreReport> restore(const RestoreOptions& options);

}  // namespace forebay::engine
