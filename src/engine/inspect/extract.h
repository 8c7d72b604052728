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

struct Extracted {
  DataType type;
  Shape shape;
  Bytes bytes;          // in C order, as stored: byte order per `type`
  uint64_t frames = 0;  // that were read
};

// Reads and verifies one variable. corrupt if one of its frames is damaged; unsupported if its blocks were stored
// through filters or partly not at all; limit if it does not fit into `memory_bytes`.
Result<Extracted> extract(const OpenSet& set, const Found& found, uint64_t memory_bytes);

// The same for one variable after another: frames that several of them share are read once, if `memory_bytes` allow it
// beside the largest of them. `reader` keeps what it read.
Result<Extracted> extract(SetReader& reader, const Found& found, uint64_t memory_bytes);

// The content of a NumPy .npy file (format version 1.0) before its array bytes.
std::string npy_header(const DataType& type, const Shape& shape);

}  // namespace forebay::engine
