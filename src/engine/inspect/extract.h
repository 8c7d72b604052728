// extract: one variable out of a set, reading only the frames that hold it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/datatype.h"
#include "base/shape.h"
#include "engine/set/set.h"
#include "engine/set/set_reader.h"

namespace forebay::engine {

// One variable of one file, where it is in an open set.
struct Found {
  size_t container = 0;
  uint32_t file = 0;      // in that container's catalogue
  uint32_t variable = 0;  // likewise
};

// The variables of `set` whose path is `path`, or whose path, key or key path (the key without datatype and class)
// matches the shell pattern `path`; of files with the rank `rank`, if given. In order of rank, file and place. Empty if
// there is none.
std::vector<Found> find_variables(const OpenSet& set, const std::string& path, std::optional<uint32_t> rank);

// What is known of an array before it is read.
struct ArrayFacts {
  DataType type;  // as stored, with its byte order
  Shape shape;
};
ArrayFacts facts_of(const OpenSet& set, const Found& found);

// Takes the bytes of an array in C order, piece after piece.
using ArraySink = std::function<Result<void>(std::span<const std::byte>)>;

// Reads and verifies a box of a variable, and gives it to `sink`. Takes at most `memory_bytes` for what `reader` keeps
// and for the box, which is given in one piece if it fits beside the largest of its frames; if not, in slabs
// (box_layout.h), and what two of them need may be read twice. Returns how many frames were read. The errors are those
// of BoxPlan::make() (of ChunkValues::read() where chunks went through filters or are not all there), corrupt if a
// frame is damaged, limit if one does not fit into the memory, and those of `sink`.
Result<uint64_t> extract(SetReader& reader, const Found& found, const Box& box, uint64_t memory_bytes,
                         const ArraySink& sink);

struct Extracted {
  DataType type;
  Shape shape;
  Bytes bytes;          // in C order, as stored: byte order per `type`
  uint64_t frames = 0;  // that were read
};

// Reads and verifies one variable in one piece: limit if that does not fit into `memory_bytes`. Frames that several
// variables share are read once if the memory allows it beside the largest of them: `reader` keeps what it read.
Result<Extracted> extract(SetReader& reader, const Found& found, uint64_t memory_bytes);
Result<Extracted> extract(const OpenSet& set, const Found& found, uint64_t memory_bytes);

}  // namespace forebay::engine
