// The two sides of the lch coder, for residuals of one width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "base/shape.h"

namespace forebay::codec::lch {

inline constexpr uint8_t kMaxLevel = 1;

// By level. Only encoders know levels: the head of a frame tells a decoder all that it needs.
inline constexpr unsigned kLeadingBits[] = {1, 2};
inline constexpr unsigned kCodeLimit[] = {10, 12};

// The streams' writers store up to 8 bytes beyond what they have written.
inline constexpr size_t kSlack = 8;

// The width of the sizes of streams in a frame of `raw` bytes.
constexpr size_t lane_size_bytes(size_t raw) { return raw <= UINT16_MAX ? 2 : 4; }

// Codec::encode and Codec::decode. `out` of encode() has in.size() + kSlack bytes.
template <class U>
size_t encode(const FrameShape& shape, uint8_t level, std::span<const std::byte> in, std::span<std::byte> out);
template <class U>
Result<void> decode(const FrameShape& shape, std::span<const std::byte> in, std::span<std::byte> out);

}  // namespace forebay::codec::lch
