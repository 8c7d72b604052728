// What a program declared before it writes: groups of variables and attributes, and how each group is written. It comes
// from an XML file (io/config) or from calls; both make the same values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "io/group/text_place.h"
#include "io/group/value_type.h"

namespace forebay::io {

// One dimension, global dimension or offset of a variable, as declared: a number; the full name of an integer variable
// or attribute of the group, whose value counts at the time of the write; the group's time index; or a dimension along
// which the ranks' blocks are joined in rank order.
struct Named {
  std::string name;
  bool operator==(const Named&) const = default;
};
struct TimeIndex {
  bool operator==(const TimeIndex&) const = default;
};
struct JoinedDimension {
  bool operator==(const JoinedDimension&) const = default;
};
using Extension = std::variant<uint64_t, Named, TimeIndex, JoinedDimension>;

// How much is computed of the values of a variable as they pass.
enum class Statistics : uint8_t { none, minmax, full };

// Asked for by `analysis`: either breaks, ascending, or a number of equal classes between min and max.
struct HistogramSpec {
  std::vector<double> breaks;
};

struct VariableDefinition {
  std::string name, path;  // as declared
  ValueType type = ValueType::int8;
  std::vector<Extension> dimensions;         // of the block that a rank writes, in the order of the program's language
  std::vector<Extension> global_dimensions;  // empty: a local array
  std::vector<Extension> offsets;
  std::string transform;  // "zlib:5", empty for none
  std::optional<HistogramSpec> histogram;
  std::string gwrite, gread;  // expressions for the generated includes
  bool read = true;           // whether the generated reading include reads it
  TextPlace transform_place;

  // The name that a program writes it by (and a reader finds it by): path without trailing '/', '/', name.
  std::string full_name() const;
};

// A constant, or a reference to a variable of the group by its full name.
struct AttributeDefinition {
  std::string name, path;
  ValueType type = ValueType::string;
  uint64_t count = 1;    // elements; of a string_array, strings
  Bytes value;           // native byte order; a string without its final NUL; strings of an array each with one
  std::string variable;  // not empty: the value is that of this variable

  std::string full_name() const;
};

// A line for the generated writing include, before the write of the variable at that place of the group.
struct SourceLine {
  size_t before = 0;
  std::string text;
};

// A method and its parameters, as a group asks for it.
struct MethodChoice {
  std::string name;        // as written, in any case
  std::string parameters;  // the text as written
  std::string base_path;   // "" or ending in '/'
  int priority = 0, iterations = 0;
  std::string group;  // that asks for it, for messages; or empty
  TextPlace place, parameters_place;
};

struct GroupDefinition {
  std::string name;
  bool fortran_order = false;  // the program is in Fortran: the first dimension varies fastest
  std::string time_index;      // a name, or empty
  Statistics statistics = Statistics::minmax;
  std::vector<VariableDefinition> variables;    // in order of definition; a name may occur more than once
  std::vector<AttributeDefinition> attributes;  // those that describe meshes among them
  std::vector<SourceLine> source_lines;         // in ascending order of place
  std::vector<MethodChoice> methods;            // all of them write, in this order
  std::optional<uint64_t> aggregate_bytes;      // time aggregation: how much is kept before it is written
  std::string aggregate_with;                   // the group whose close ends the aggregation, or empty
};

// A whole configuration.
struct Config {
  std::vector<GroupDefinition> groups;
  std::optional<uint64_t> max_buffer_bytes;
  std::vector<std::string> warnings;  // "FILE:LINE:COLUMN: what"
};

}  // namespace forebay::io
