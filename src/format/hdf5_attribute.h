// The attributes of HDF5 files.
#pragma once

#include <string>
#include <string_view>

#include "format/attributes.h"
#include "format/hdf5_object.h"

namespace forebay::format {

// As read_attributes(). Left out are references, lists of any length, and what lies in shared heaps.
Result<FileAttributes> read_hdf5_attributes(const ByteSource& source, const AttributeLimits& limits);

// Those of one object, read with Read::attributes, that are `wanted`. Errors as above; attributes that are damaged are
// left out.
Result<FileAttributes> read_object_attributes(hdf5::File& file, const hdf5::Object& object, const std::string& path,
                                              bool (*wanted)(std::string_view name));

}  // namespace forebay::format
