// Pieces of stored arrays, read out of an open set.
#pragma once

#include <span>

#include "engine/set/chunk_values.h"
#include "engine/set/shared_reader.h"
#include "view/place/arrays.h"
#include "view/source/step.h"

namespace forebay::view {

// As Step::read(): `stored` are the arrays that pieces name, and `chunks` are of the reader's set. Each frame is read
// once. Thread-safe.
ReadCost read_pieces(const engine::SharedReader& reader, const engine::ChunkValues& chunks,
                     std::span<const StoredArray> stored, std::span<const Piece> pieces, const Step::Failed& failed);

// The same, with what the stored arrays mean. Elements have the type StoredArray::read_as then.
ReadCost read_meant_pieces(const engine::SharedReader& reader, const engine::ChunkValues& chunks,
                           std::span<const StoredArray> stored, std::span<const Piece> pieces,
                           const Step::Failed& failed);

}  // namespace forebay::view
