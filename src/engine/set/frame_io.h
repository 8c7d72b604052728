// Frames in memory: gathered from source files, or read back from a container.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/buffer.h"
#include "base/shape.h"
#include "codec/chain.h"
#include "engine/set/set.h"
#include "engine/set/sources.h"
#include "merge/plan.h"

namespace forebay::engine {

// A frame's raw bytes, and what they are.
struct RawFrame {
  uint32_t number = 0;
  std::vector<merge::Slice> slices;  // in order; their lengths sum up to raw.size()
  Buffer raw;
};

// Reads the pieces of frame `number` straight into its buffer: this is the merge. Errors as of the sources.
Result<RawFrame> gather(const merge::Plan& plan, uint32_t number, Sources& sources);

// A frame as it is stored, checked against its container's checksums.
struct StoredFrame {
  uint32_t number = 0;
  container::FramePayload stored;
};

Result<StoredFrame> fetch_frame(const OpenContainer& container, uint32_t number);

// Decodes a fetched frame and checks the raw bytes: corrupt, naming container, frame and offset, if they are not what
// was packed.
Result<RawFrame> decode_frame(const OpenContainer& container, const StoredFrame& frame);

// The same of a frame that its container has itself, with the raw bytes of the frames that it is predicted from: the
// last ones are of one in another set, if there is one.
Result<RawFrame> decode_own_frame(const OpenContainer& container, const StoredFrame& frame,
                                  codec::References references);

// Both at once.
Result<RawFrame> read_frame(const OpenContainer& container, uint32_t number);

// The most memory, in bytes, that fetching and decoding frame `number` takes, its raw bytes included.
uint64_t frame_memory(const OpenContainer& container, uint32_t number);

// The same of a frame that its container has itself, beside the bytes of those that it is predicted from.
uint64_t own_frame_memory(const OpenContainer& container, uint32_t number);

// Calls visit(file, file offset, bytes) for each piece of a frame, in order; stops at the first error.
using PieceFn = std::function<Result<void>(uint32_t file, uint64_t offset, std::span<const std::byte> bytes)>;
Result<void> for_each_piece(const merge::Plan& plan, const RawFrame& frame, const PieceFn& visit);

}  // namespace forebay::engine
