// What a rank tells of its blocks of global arrays before it is known which of them join.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "io/group/process_group.h"

namespace forebay::io {

struct BlockNote {
  uint64_t step = 0;      // the place of its process group among those that are closed
  uint64_t block = 0;     // its place in the group
  bool may_join = false;  // otherwise others must know only where it lies
  Block head;             // without bytes, hashes and transform
};

// Of all blocks that have a place in a global array. Those may join that are smaller than `chunk_bytes` and have no
// transform, which each rank does for itself, and are no strings.
std::vector<BlockNote> notes_of(std::span<const ProcessGroup> steps, uint64_t chunk_bytes);

// The bytes of all notes of these steps are not more.
uint64_t notes_bound(std::span<const ProcessGroup> steps);

Bytes encode_notes(std::span<const BlockNote> notes);
Result<std::vector<BlockNote>> decode_notes(std::span<const std::byte> bytes);

}  // namespace forebay::io
