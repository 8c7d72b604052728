// repair: what can be saved of a damaged set.
#pragma once

#include <string>
#include <vector>

#include "engine/options.h"
#include "store/store.h"

namespace forebay::engine {

struct RepairReport {
  std::string name;  // of the set that was written, or empty if nothing had to be done
  uint64_t containers_rewritten = 0, frames_lost = 0;
  uint64_t containers_lost = 0;          // with all of their files, whose names are lost too
  std::vector<std::string> whole_files;  // restorable
  std::vector<std::string> lost_files;   // not, each with the reason
  std::vector<std::string> remarks;
};

// Looks at every container of the set `name`; intact ones are kept as they are, for others the index is rebuilt from
// the records that are whole. The result is committed as the new set `new_name`; the damaged set stays. Containers that
// are kept are shared between the two sets where the file system has hard links. The new set keeps the entries of files
// that are lost: verify() names them, and restore() with `only` gives the others. With nothing damaged, or nothing that
// a repair could make better, writes nothing. exists if `new_name` is taken; corrupt if no container of the set can be
// read at all.
Result<RepairReport> repair(const store::Store& store, const std::string& name, const std::string& new_name,
                            const Resources& resources);

}  // namespace forebay::engine
