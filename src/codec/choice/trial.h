// Finding the best of several chains on samples of a frame.
#pragma once

#include <span>
#include <vector>

#include "codec/chain.h"

namespace forebay::codec {

// The one of `transforms` (chains without a coder, simplest first) whose output an LZ coder with an entropy stage
// should code best, judged by estimates on a small sample. A later one must be better by half a percent.
Chain best_by_estimate(std::span<const Chain> transforms, const FrameShape& shape, std::span<const std::byte> raw);

// How much of a frame chains are tried on.
uint64_t trial_sample_bytes(uint64_t raw_bytes);

// What a trial found.
struct Trial {
  Chain chain;
  uint64_t sample_bytes = 0, encoded_bytes = 0;
};

// The first of `chains` that encodes a sample of about `sample_bytes` to the least. `references` are as of encode():
// frames of the same shape.
Trial best_by_trial(std::span<const Chain> chains, const FrameShape& shape, std::span<const std::byte> raw,
                    uint64_t sample_bytes, References references);

// The size to which `chain`, one that refers to no other frame, encodes a sample, with every plane of bytes that a
// shuffle leaves coded by itself. zstd codes in pieces that are larger than a sample's planes, so that best_by_trial()
// mixes what lies apart in a frame, and takes chains with a shuffle for worse than they are.
uint64_t size_by_planes(const Chain& chain, const FrameShape& shape, std::span<const std::byte> raw,
                        uint64_t sample_bytes);

// The most memory that best_by_estimate() takes, and the most that the others take beside encode() itself.
uint64_t estimate_memory_bytes(uint64_t raw_bytes);
uint64_t trial_memory_bytes(uint64_t sample_bytes);

}  // namespace forebay::codec
