// pack: directories of per-rank files become one committed set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/plan_spec.h"
#include "codec/choice/chooser.h"
#include "engine/options.h"
#include "engine/pack/group_report.h"
#include "engine/pack/lossy.h"
#include "engine/pack/team.h"
#include "engine/pack/tree.h"
#include "format/reader.h"
#include "merge/similarity.h"
#include "store/store.h"

namespace forebay::engine {

struct SchemeChoice {
  bool automatic = true;          // per variable group, by trying on samples: aware or aware-block
  Scheme scheme = Scheme::aware;  // if not automatic
  uint64_t block_bytes = 64 << 10;
  uint64_t frame_bytes = 0;  // 0: the profile's; an upper bound, for a small memory budget makes frames smaller

  // "auto", "agnostic", "agnostic-block", "aware" or "aware-block".
  static Result<SchemeChoice> parse(std::string_view name);
  const char* name() const;
  uint64_t frame_bytes_for(const codec::Profile& profile) const {
    return frame_bytes != 0 ? frame_bytes : profile.frame_bytes();
  }
};

struct PackOptions {
  std::vector<std::string> sources;  // directories or files
  ScanOptions scan;                  // which of their content
  std::string store;                 // made if it does not exist
  std::string name;                  // of the set; empty: the last component of the first source
  std::optional<int64_t> step;       // none: the last number in the name, if it tells one (store::step_of())
  uint64_t group_size = 0;           // ranks per container; 0: default_group_size() of the sources
  std::string parent;                // a set, or "latest": frames that it has, too, are not stored again; empty: none
  uint64_t full_every = 8;           // with a parent: of that many sets in a row, one has no frames in others
  SchemeChoice scheme;
  codec::Profile profile;
  std::vector<LossyRule> lossy;  // variables that need not come back byte for byte
  merge::Similarity similarity;
  format::FormatOptions format;
  Resources resources;
  store::Origin origin;  // "latest", and what is remembered, are of its series
};

struct PackReport {
  std::string name;
  std::optional<int64_t> step;
  uint64_t ranks = 0, files = 0, variables = 0, containers = 0, frames = 0;
  uint64_t raw_bytes = 0;                   // of the files
  uint64_t stored_bytes = 0;                // of the containers: Manifest::bytes()
  uint64_t index_bytes = 0;                 // of stored_bytes: everything that is not a payload
  std::string parent;                       // the set that frames were looked for in, or empty
  std::vector<store::ParentEntry> parents;  // where some were found
  std::vector<LossyOutcome> lossy;          // one per rule
  double seconds = 0;                       // on the clock
  StageSeconds cpu_seconds;
  std::vector<std::string> remarks;  // e.g. files that looked like HDF5 and could not be read
  std::vector<std::string> skipped;  // SourceTree::skipped
  std::string looks_older;           // store::why_older() than the set before; empty: it does not
};

// Packs and commits one set. On any error nothing is committed and the sources are as they were. Errors: exists (the
// name is taken), not_found, permission, io (a source or the store), changed (a source changed meanwhile), no_space,
// limit (the memory budget is too small), invalid_argument, those of scan_tree(). Where the parent is damaged, frames
// are stored again, with a remark; not_found if it is named and not there, and changed if it is removed meanwhile. The
// calling thread drives progress.
Result<PackReport> pack(const PackOptions& options, Team& team);

}  // namespace forebay::engine
