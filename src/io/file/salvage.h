// Process groups that no list names: those of a step that was never finished.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "base/error.h"
#include "io/file/listing.h"

namespace forebay::io {

struct Salvage {
  Listing listing;                   // the process groups of which all is there
  uint64_t end = 0;                  // behind the last of them
  uint64_t incomplete = 0;           // how many were begun and are not all there
  std::vector<std::string> remarks;  // what was found damaged; the first hundred
};

// Looks through `source` from `begin` on for whole process groups of the container. Takes time proportional to what
// lies there. io; limit if what they say takes more than `max_bytes`.
Result<Salvage> salvage(const ByteSource& source, uint64_t container_id, uint64_t begin, uint64_t max_bytes);

}  // namespace forebay::io
