// The list of a container's parts as bytes (docs/format.md, "Parts record"). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "container/container.h"

namespace forebay::container {

// limit if there are too many for a FlatBuffer.
Result<Bytes> encode_parts(std::span<const PartEntry> parts);

// The inverse. `bytes`, aligned to 8, are hostile: corrupt if malformed, if there is no part, or unless the parts lie
// one behind the other, from the end of the file header to `end`, the offset of the list itself; limit if they pass
// `max_bytes`.
Result<std::vector<PartEntry>> decode_parts(std::span<const std::byte> bytes, uint64_t end, uint64_t max_bytes);

}  // namespace forebay::container
