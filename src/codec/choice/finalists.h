// Which chains a profile encodes a whole frame with: one where a sample tells enough, several where it does not.
#pragma once

#include "codec/choice/contest.h"
#include "codec/choice/profile_chains.h"

namespace forebay::codec {

// Enters the chain of `fast`: the one that is estimated to be the best. Opaque elements of which some come again
// far away are encoded uncut, unless cutting costs next to nothing.
void enter_fast(Contest& contest, const FrameShape& shape, std::span<const std::byte> raw);

// Enters the chains of `balanced` or `max`. Both also enter what a lower profile would choose, where it may be smaller:
// no profile shall make more of a frame than the one below it.
//
// Repetition is what a sample does not see: copies of other ranks' cells, constant regions, tables of coordinates.
// Where there is much of it, or where a sample shrinks to little, everything is tried on the whole frame; such frames
// encode several times as fast as others.
void enter_balanced(Contest& contest, const FrameShape& shape, std::span<const std::byte> raw);

// `parameters` as of related_chains(), or empty.
void enter_max(Contest& contest, const FrameShape& shape, std::span<const std::byte> raw, const Bytes& parameters,
               References references);

// The most memory that these take beside the contest's own.
uint64_t finalists_memory_bytes(uint64_t raw_bytes);

}  // namespace forebay::codec
