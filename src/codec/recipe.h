// The recipe of a frame, as it lies in the frame header (docs/codecs.md, "Recipe").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/codec.h"

namespace forebay::codec {

// The most that a frame header has room for (docs/format.md, "Frame").
inline constexpr size_t kMaxRecipeBytes = 64 << 10;

// A stage that was applied, and the size of its output.
struct Step {
  Stage stage;
  uint64_t size = 0;
};

Bytes encode_recipe(std::span<const Step> steps);

// corrupt if `recipe` is malformed. The sizes, codecs and parameters are as they were found.
Result<std::vector<Step>> decode_recipe(std::span<const std::byte> recipe);

}  // namespace forebay::codec
