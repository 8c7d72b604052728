// Frames of a kind that a profile's ordinary chains do not suit: multiples of a base, records of a few numbers, noise,
// masks, and numbers as text.
#pragma once

#include "codec/choice/contest.h"

namespace forebay::codec {

enum class Effort : uint8_t { fast, balanced, max };

// Where the frame's elements are multiples of a base, or records of 2 to 16 numbers, enters the best chains for that:
// of each profile up to `effort` the one that makes least of a sample, if that is 3 % less than what `plain` makes of
// it. Returns whether one makes at least a quarter less, and the frame does not repeat itself: no other chain need be
// entered then.
bool enter_kinds_of_numbers(Contest& contest, Effort effort, const Chain& plain, const FrameShape& shape,
                            std::span<const std::byte> raw);

// The chain of `fast` for a frame for which it would take `plain`. Of noise, for which that is a shuffle and saves
// little, one plane of bytes shrinks, and another chain is taken if it makes less of a sample.
Chain chain_for_noise(const Chain& plain, const FrameShape& shape, std::span<const std::byte> raw);

// Enters what chain_for_noise() would take, if what was entered saves little.
void enter_noise(Contest& contest, const Chain& plain, const FrameShape& shape, std::span<const std::byte> raw);

// Of single bytes with few values, as in masks, enters chains that see bits, of the profiles up to `effort`.
void enter_masks(Contest& contest, Effort effort, const FrameShape& shape, std::span<const std::byte> raw);

// Of bytes that are mostly numbers as text, enters `plain` and the chain for those. Returns whether the latter makes at
// least a quarter less: no other chain need be entered then.
bool enter_text(Contest& contest, Effort effort, const Chain& plain, const FrameShape& shape,
                std::span<const std::byte> raw);

// All chains that these choose from.
std::vector<Chain> chains_of_kinds(Effort effort, const DataType& type);

}  // namespace forebay::codec
