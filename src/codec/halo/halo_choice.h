// Chooses among the copies that a search found, and puts them in an order in which they can be made.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codec/halo/halo_copies.h"

namespace forebay::codec {

// The parameters that say the most useful of `found`: each of the copies covers enough cells that no other does, and
// when they are made one after another, no source has cells that a later one restores. Empty if none is worth it.
Bytes choose_copies(const CellNumbers& cells, size_t width, std::span<const std::byte> in, std::vector<Copy> found);

}  // namespace forebay::codec
