// verify: read everything back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/options.h"
#include "store/store.h"

namespace forebay::engine {

struct Damage {
  std::string container;           // path of the damaged file: a container or the manifest
  std::optional<uint32_t> frame;   // number, if one frame is damaged
  std::optional<uint64_t> offset;  // byte in the container, when known
  std::string what;
  std::vector<std::string> files;  // of the set, whose bytes are lost by this damage
  bool all_files = false;          // every file of the container is lost; their names cannot be read
  bool is_derived = false;         // the frame itself is as it was written: one that it refers to is damaged
  bool is_misfit = false;          // the container is as it was written: the file cannot lie beside the others
};

struct VerifyReport {
  std::string name;
  uint64_t frames = 0, files = 0, raw_bytes = 0, stored_bytes = 0;  // of what could be opened
  double seconds = 0;
  std::vector<Damage> damages;  // empty: the set is intact

  bool intact() const { return damages.empty(); }
};

// Reads, decodes and checks all of a set: every byte of its containers against their checksums, the files' checksums
// against the decoded bytes, the containers against the manifest, and whether all of it
// can lie in a directory: what is intact can be restored. Without a readable manifest, the containers that are
// there. Frames that an earlier repair could not save are damage too. Damage is in the report; an Error means that the
// check itself could not be done (permission, limit, unsupported, changed). What cannot be read for an I/O error counts
// as damaged.
Result<VerifyReport> verify(const store::SetInfo& set, const Resources& resources);

}  // namespace forebay::engine
