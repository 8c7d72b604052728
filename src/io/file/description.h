// The description of a process group in its catalogue (docs/format.md, "Catalogue: the process group"). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "io/group/process_group.h"

namespace forebay::io {

// A process group but the bytes, hashes and characteristics of its blocks.
struct Description {
  ProcessGroup group;
  std::vector<uint64_t> bytes;  // of each block
};

Result<Bytes> encode_description(const ProcessGroup& group);

// The bytes are hostile: corrupt if malformed or impossible, limit beyond `max_bytes` of memory.
Result<Description> decode_description(std::span<const std::byte> bytes, uint64_t max_bytes);

}  // namespace forebay::io
