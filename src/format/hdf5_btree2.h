// Version 2 B-trees: the index of dense links and of chunks with several unlimited dimensions.
#pragma once

#include <functional>

#include "format/hdf5_file.h"

namespace forebay::format::hdf5 {

// Called with a record and its size in bytes. An error ends the walk.
using RecordVisitor = std::function<Result<void>(Cursor record, size_t size)>;

// Visits the records, in the tree's order, of the tree whose header is at `address`; nothing if the address is
// undefined. unsupported if the tree's type is not one of `type` and `other_type`.
Result<void> visit_records(File& file, uint64_t address, uint8_t type, uint8_t other_type,
                           const RecordVisitor& visitor);

}  // namespace forebay::format::hdf5
