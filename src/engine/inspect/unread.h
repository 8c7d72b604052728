// The files of a set in which no variables were found, and what they look like.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/options.h"
#include "store/store.h"

namespace forebay::engine {

// Regular files of one format that look alike.
struct UnreadFiles {
  std::string format;  // as the catalogue has it: "opaque" if no reader knew it
  std::string looks;   // format::looks_like(); of formats that are known what is missing
  uint64_t files = 0, bytes = 0;
  std::string example;  // the name of one
};

// The most bytes first. Of files whose names differ in their digits alone one is looked at, and of such names a few:
// this reads few frames. What cannot be read is said as what it looks like. `resources` are resolved, and their memory
// is for buffers alone. Errors as of open_set().
Result<std::vector<UnreadFiles>> unread_files(const store::SetInfo& set, const Resources& resources);

}  // namespace forebay::engine
