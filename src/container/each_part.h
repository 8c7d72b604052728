// The parts of a container one after another, without its lists.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/byte_source.h"
#include "base/error.h"
#include "container/container.h"

namespace forebay::container {

// A part's index and, for each of its frames, where in the source the payload lies; 0 where no record was found.
using OnPart = std::function<Result<void>(const Index& index, std::span<const uint64_t> payload_offsets)>;

// Walks from record to record, from the first one on, as far as they follow each other, and calls `on_part` for each
// index that it comes by. Reads headers and indices, no payloads. The bytes are hostile: an index takes at most
// `max_index_bytes` (limit otherwise), and no more than `max_records` records are looked at, and 256 MiB of gaps or
// 4,096 gaps. Stops at an error of `on_part`; corrupt for an index that is damaged; io.
Result<void> for_each_part(const ByteSource& source, uint64_t max_index_bytes, uint64_t max_records,
                           const OnPart& on_part);

}  // namespace forebay::container
