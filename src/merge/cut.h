// The second half of planning: where a group's merged bytes are cut into frames, and which slices a frame has.
#pragma once

#include <vector>

#include "merge/plan.h"

namespace forebay::merge {

// The unit at which a stream of `unit_dims`-shaped arrays may be cut: the largest whole block, plane or row of it, in
// bytes, that is at most `frame_bytes`; at least one element.
uint64_t cut_unit(std::span<const uint64_t> block, uint64_t element_bytes, uint64_t frame_bytes);

// Appends the frames of `group` (number `number`) to `frames`, at most `frame_bytes` each. Concatenated groups are cut
// between streams, or, where a stream is larger than a frame, at multiples of units[i], the cut unit of streams[i];
// interleaved groups are cut between blocks. False if there would be more than `max_frames` frames in all.
bool cut_group(const FrameGroup& group, uint32_t number, uint64_t frame_bytes, std::span<const uint64_t> units,
               uint64_t max_frames, std::vector<Frame>& frames);

// The slices of one frame of `group`.
std::vector<Slice> slices_of(const FrameGroup& group, const Frame& frame);

}  // namespace forebay::merge
