// Frames of a kind that a profile's ordinary chains do not suit: multiples of a base, noise, and masks.
#pragma once

#include "codec/choice/contest.h"

namespace forebay::codec {

enum class Effort : uint8_t { fast, balanced, max };

// Where the frame's elements are multiples of a base, enters the best chains for that: of each profile up to `effort`
// the one that makes least of a sample, if that is 3 % less than what `plain` makes of it. Returns whether it is at
// least a quarter less, and the frame does not repeat itself: no other chain need be entered then.
bool enter_multiples(Contest& contest, Effort effort, const Chain& plain, const FrameShape& shape,
                     std::span<const std::byte> raw);

// The chain of `fast` for a frame for which it would take `plain`: another one if that makes less of a sample. Of
// noise, for which `plain` is a shuffle and saves little, one plane of bytes shrinks; of bytes with few values, single
// bits.
Chain chain_for_kind(const Chain& plain, const FrameShape& shape, std::span<const std::byte> raw);

// Enters what chain_for_kind() would take, and what the profiles up to `effort` have beside it.
void enter_kind(Contest& contest, Effort effort, const Chain& plain, const FrameShape& shape,
                std::span<const std::byte> raw);

// All chains that these choose from.
std::vector<Chain> chains_of_kinds(Effort effort, const DataType& type);

}  // namespace forebay::codec
