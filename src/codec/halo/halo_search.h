// Finds the boxes of a frame whose cells are those of other boxes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codec/halo/halo_copies.h"

namespace forebay::codec {

// The most memory that find_copies() and choose_copies() take beside a byte for each cell.
inline constexpr size_t kHaloSearchBytes = 12 << 20;

enum class Look { at_sample, at_all };

// Boxes that copy others, as large as they get, in no useful order; they may share cells and depend on each other.
// Looks for the values of a few cells of each block (its corners, the middles of its faces and edges, some inner
// cells) among all cells, and lets a box grow around each hit. A look at a sample, of a sixteenth of the cells, tells
// whether there is anything to find. `width` is 2, 4 or 8. Deterministic; some ns a cell, or a fraction of one.
std::vector<Copy> find_copies(const CellNumbers& cells, size_t width, std::span<const std::byte> in, Look look);

}  // namespace forebay::codec
