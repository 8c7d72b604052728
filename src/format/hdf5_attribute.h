// The attributes of HDF5 files.
#pragma once

#include "format/attributes.h"

namespace forebay::format {

// As read_attributes(). Left out are references, lists of any length, and what lies in shared heaps.
Result<FileAttributes> read_hdf5_attributes(const ByteSource& source, const AttributeLimits& limits);

}  // namespace forebay::format
