// How much memory an index may unfold to. Columns of one value take next to no bytes, so a forged index could claim any
// number of rows; what really has that many is padded by its writer (docs/format.md, "Unfolding"). Pure.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/catalogue.h"
#include "container/container.h"

namespace forebay::container {

inline constexpr uint64_t kFreeUnfolding = 32 << 20;
inline constexpr uint64_t kUnfoldingRatio = 256;

// The most that a payload of so many bytes may take when it is decoded, whatever the budget.
constexpr uint64_t unfolding_limit(uint64_t payload_bytes) {
  constexpr uint64_t kMost = (UINT64_MAX - kFreeUnfolding) / kUnfoldingRatio;
  return kFreeUnfolding + kUnfoldingRatio * (payload_bytes < kMost ? payload_bytes : kMost);
}

// What decoding takes at most, for a catalogue and for all other parts of an index.
uint64_t unfolded_bytes(const Catalogue& catalogue);
uint64_t unfolded_contents_bytes(const Index& index);

// Appends zeros to a buffer, a multiple of 8, if it would pass the limit otherwise: `unfolded` is what it takes at
// most.
void pad_to_unfold(Bytes& buffer, uint64_t unfolded);

}  // namespace forebay::container
