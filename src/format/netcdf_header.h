// The header of a netCDF classic file. ("The NetCDF Classic Format Specification", with CDF-5 as PnetCDF defines it.)
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/cursor.h"
#include "base/datatype.h"
#include "base/shape.h"

namespace forebay::format {

struct NetcdfAttribute {
  std::string name;
  DataType type;
  bool is_text = false;
  uint64_t count = 0;  // elements
  Bytes value;         // as it is in the file
};

struct NetcdfVariable {
  std::string name;
  DataType type;
  Shape shape;  // of a record variable: of one record
  bool is_record = false;
  uint64_t begin = 0;                       // offset in the file
  std::vector<std::string> dimensions;      // their names, and
  std::vector<NetcdfAttribute> attributes;  // these, where they are asked for
};

struct NetcdfHeader {
  uint64_t records = 0;
  bool streaming = false;  // the number of records follows from the file's size
  std::vector<NetcdfVariable> variables;
  std::vector<NetcdfAttribute> attributes;  // of the file, where they are asked for
};

// Which attributes are asked for: those that say what values mean (format/meaning.h) alone, or all, and with them the
// names of dimensions.
enum class NetcdfAttributes { none, of_meaning, all };

// Parses the header at the start of a file; nothing if it is malformed. If `cursor` is no longer ok(), the header may
// just be longer than the bytes that were given.
std::optional<NetcdfHeader> parse_netcdf(Cursor& cursor, NetcdfAttributes wanted = NetcdfAttributes::none);

}  // namespace forebay::format
