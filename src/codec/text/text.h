// Files of numbers as text (tables, fields, dumps, logs): the numbers of a column become ordered integers, which are
// predicted from the lines before and from similar columns before; what is left, and all other text, is coded in
// streams. docs/codecs.md, "text", describes the encoded form.
#pragma once

#include <algorithm>
#include <span>

#include "base/bytes.h"
#include "base/error.h"
#include "base/shape.h"
#include "codec/text/streams.h"

namespace forebay::codec::text {

// A frame is encoded in sections, which end where a block of the frame does (a file, mostly), or at a line. One with
// tables has at most kMostSection bytes, and a number for each kBytesPerNumber bytes: what bounds memory.
inline constexpr size_t kMostSection = 1 << 20, kBytesPerNumber = 4;

// Smaller frames are left to other codecs: where memory is short, frames are small, and few bytes are not worth tables.
inline constexpr size_t kLeastFrame = 64 << 10;

// A run is predicted from runs of sections that begin at most as many bytes before its own: others are forgotten.
inline constexpr size_t kReach = 4 << 20;

// The most memory, in bytes, of the keys that are kept of a frame of `raw` bytes.
constexpr size_t keys_bytes(size_t raw) {
  return std::min(raw, kReach + kMostSection) / kBytesPerNumber * sizeof(int64_t);
}

// The most memory, in bytes, of the two functions below for a frame of `raw` bytes, beside their arguments.
size_t encode_bytes(size_t raw, Effort effort);
size_t decode_bytes(size_t raw);

// Whether sampled parts of the frame are mostly numbers.
bool is_worth_trying(const FrameShape& shape, std::span<const std::byte> raw);

// How an encoder cuts frames, in bytes.
struct Cuts {
  size_t least_frame = kLeastFrame;
  size_t most_section = 0;  // at most kMostSection; 0: as suits a frame of that size
};

// Encodes a frame; empty if there are no tables of numbers in it, or little is gained.
Bytes encode(const FrameShape& shape, std::span<const std::byte> raw, Effort effort, Cuts cuts = {});

// The inverse; `encoded` is hostile: corrupt unless it decodes to exactly raw.size() bytes.
Result<void> decode(std::span<const std::byte> encoded, std::span<std::byte> raw);

}  // namespace forebay::codec::text
