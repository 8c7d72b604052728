// The header of a netCDF classic file. ("The NetCDF Classic Format Specification", with CDF-5 as PnetCDF defines it.)
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/datatype.h"
#include "base/shape.h"
#include "format/cursor.h"

namespace forebay::format {

struct NetcdfVariable {
  std::string name;
  DataType type;
  Shape shape;  // of a record variable: of one record
  bool is_record = false;
  uint64_t begin = 0;  // offset in the file
};

struct NetcdfHeader {
  uint64_t records = 0;
  bool streaming = false;  // the number of records follows from the file's size
  std::vector<NetcdfVariable> variables;
};

// Parses the header at the start of a file; nothing if it is malformed. If `cursor` is no longer ok(), the header may
// just be longer than the bytes that were given.
std::optional<NetcdfHeader> parse_netcdf(Cursor& cursor);

}  // namespace forebay::format
