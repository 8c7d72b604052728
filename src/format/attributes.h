// What files say of themselves and of their variables beside the values: attributes. Containers do not store them
// apart; they are read from a file's own structures when somebody asks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/bytes.h"
#include "base/datatype.h"
#include "base/shape.h"

namespace forebay::format {

struct FileAttribute {
  std::string object;  // what it is of: "/", or the path of a group or variable, "/Group/name"
  std::string name;
  DataType type;         // of numbers and of opaque elements (compounds); kBytes of texts
  bool is_text = false;  // one text or several
  Shape shape;           // empty: one value
  Bytes value;           // numbers in the machine's byte order, what is opaque as it is; texts each end with a zero
};

struct AttributeLimits {
  uint64_t most = 1 << 16;             // attributes
  uint64_t most_bytes_each = 1 << 20;  // of a value
  uint64_t most_bytes = 16 << 20;      // of all names and values together
};

struct FileAttributes {
  std::vector<FileAttribute> attributes;  // by object, then name
  std::map<std::string, std::vector<std::string>, std::less<>>
      dimensions;         // names of each variable's, slowest first, if it has such: netCDF's, or HDF5's scales
  uint64_t left_out = 0;  // attributes beyond the limits, damaged ones, and those of kinds that are not understood

  // Null if there is none of that name.
  const FileAttribute* find(std::string_view object, std::string_view name) const;
};

// The attributes of a file of `format`, as Layout::format has it: empty for formats that have none ("hdf5" and "netcdf"
// do). The bytes are hostile: what is allocated follows from `limits`, what is read from the size of the file. corrupt,
// unsupported or limit if the file as a whole cannot be understood; errors of the source.
Result<FileAttributes> read_attributes(const ByteSource& source, std::string_view format,
                                       const AttributeLimits& limits = {});

}  // namespace forebay::format
