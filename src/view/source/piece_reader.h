// Pieces of stored arrays, read out of an open set.
#pragma once

#include <span>

#include "engine/set/shared_reader.h"
#include "view/place/arrays.h"
#include "view/source/step.h"

namespace forebay::view {

// As Step::read(): `stored` are the arrays that pieces name. Each frame is read once. Thread-safe.
ReadCost read_pieces(const engine::SharedReader& reader, std::span<const StoredArray> stored,
                     std::span<const Piece> pieces, const Step::Failed& failed);

}  // namespace forebay::view
