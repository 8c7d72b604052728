// Encoding with loss, within a bound that is checked on every value before anything is written (docs/codecs.md, "zfp").
#pragma once

#include <optional>
#include <span>

#include "base/buffer.h"
#include "base/error_bound.h"
#include "codec/chain.h"

namespace forebay::codec {

// The parameters of the codecs that are not lossless.
struct LossyParameters {
  LossyNote note;
  double tolerance = 0;  // what the codec was told: finite, above 0
};

Bytes encode_lossy_parameters(const LossyParameters& parameters);
Result<LossyParameters> decode_lossy_parameters(std::span<const std::byte> bytes);  // corrupt if they are none

// What the recipe of a frame says of its loss; none if it is lossless, or no recipe.
std::optional<LossyNote> lossy_note(std::span<const std::byte> recipe);

// Whether this build can encode with loss.
bool can_encode_lossy();

// A frame with loss.
struct LossyEncoded {
  Encoded encoded;
  Buffer decoded;  // what decode() makes of it, on every machine: as many bytes as the frame has
  LossyNote note;
};

// Encodes `raw`, which `shape` describes, to fewer than `smaller_than` bytes. Every value that decodes to something
// else than it was has been compared with the bound, in exact or pessimistic arithmetic. None if that cannot be had:
// the elements are not f4 or f8, not all of them are finite, the bound cannot be kept, or it does not pay.
std::optional<LossyEncoded> encode_lossy(const ErrorBound& bound, const FrameShape& shape,
                                         std::span<const std::byte> raw, size_t smaller_than);

// The most memory, in bytes, that encode_lossy() of `raw_bytes` uses beside `raw`, its result included.
uint64_t encode_lossy_bytes(uint64_t raw_bytes);

}  // namespace forebay::codec
