// Chains of codecs: a first pass that models, a second that codes (mcrEngine section 6.1).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "codec/codec.h"

namespace forebay::codec {

// The codecs that a frame passes through, in the order of encoding. An empty chain stores the frame as it is.
using Chain = std::vector<Stage>;

inline constexpr size_t kMaxChainStages = 8;

// The raw bytes of the frames that a frame refers to, in the order of its list of references.
using References = std::span<const std::span<const std::byte>>;

// "lorenzo,shuffle,zstd:1"; the empty chain is "none". A codec that this build lacks is written as its number.
// Parameters are left out.
std::string to_string(const Chain& chain);

// The inverse. invalid_argument for an unknown codec, one that is not lossless, a bad level, or a chain in which a
// transform follows a coder.
Result<Chain> parse_chain(std::string_view text);

// A frame's bytes after a chain, with what a reader needs to undo it.
struct Encoded {
  Buffer payload;
  Bytes recipe;  // the chain, its levels and the sizes between its stages: the frame header's `recipe` field
                 // (docs/codecs.md, "Recipe")
};

// Encodes `raw`, which `shape` describes, through `chain`. Stages that do not accept the frame's type are left out, and
// so are coders that save nothing, and stages whose parameters a recipe has no room for any more; a result that with
// its recipe is not smaller than `raw` is dropped for the empty chain. So it always succeeds, and never expands.
// decode() must be given the same references.
Encoded encode(const Chain& chain, const FrameShape& shape, std::span<const std::byte> raw, References references = {});

// Undoes `recipe`: fills all of `raw`. `recipe` and `payload` are hostile: corrupt, or unsupported for a codec that
// this build lacks; memory stays within decode_bytes(recipe, raw.size()). `shape` must describe raw.size() bytes: else
// corrupt.
Result<void> decode(std::span<const std::byte> recipe, const FrameShape& shape, std::span<const std::byte> payload,
                    std::span<std::byte> raw, References references = {});

// The chain in a recipe; of one with entries, that of the entries. corrupt if it is malformed.
Result<Chain> chain_of(std::span<const std::byte> recipe);

// The most memory, in bytes, that encode() and decode() of `raw_bytes` use beside `raw` and, for decode(), `payload`.
// The memory of the result counts, but what a FrameShape holds does not: a copy of it is made for each stage, and one
// more; nor does what the recipe holds, which is copied twice.
uint64_t encode_bytes(const Chain& chain, uint64_t raw_bytes);
// What of that the payload takes that encode() returns.
uint64_t result_bytes(const Chain& chain, uint64_t raw_bytes);
uint64_t decode_bytes(std::span<const std::byte> recipe, uint64_t raw_bytes);
uint64_t decode_bytes(const Chain& chain, uint64_t raw_bytes);

}  // namespace forebay::codec
