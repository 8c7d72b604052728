// A frame's stages undone one after another: what decode() does with frames and with entries alike.
#pragma once

#include <span>

#include "codec/chain.h"
#include "codec/recipe.h"

namespace forebay::codec {

// Whether `shape` has exactly `raw_size` bytes, no product or sum of which overflows.
bool describes(const FrameShape& shape, size_t raw_size);

// decode() of a recipe with these stages, none of which is `entries`.
Result<void> decode_stages(std::span<const Step> steps, const FrameShape& shape, std::span<const std::byte> payload,
                           std::span<std::byte> raw, References references);

}  // namespace forebay::codec
