// From what was declared of a variable's dimensions to the numbers that hold for one write. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/shape.h"
#include "io/group/definition.h"
#include "io/group/failure.h"
#include "io/group/name_index.h"

namespace forebay::io {

inline constexpr size_t kMostDimensions = 32;

// A list as programs and configurations write it, "NX,4,iter" or "JoinedDim,cols"; an empty one has no dimensions.
// Names must be of the group: of an integer variable or attribute, or its time index. `if_unknown` (invalid_dimension,
// invalid_global_dimension or invalid_offset, as the list is) if a name is not there, a number makes no sense or there
// are more than kMostDimensions; invalid_variable_as_dimension if it is not an integer.
Outcome<std::vector<Extension>> parse_extensions(const GroupDefinition& group, const NameIndex& names,
                                                 std::string_view list, Code if_unknown);

// The inverse: "NX,4,iter", "JoinedDim".
std::string to_string(const GroupDefinition& group, const std::vector<Extension>& list);

// Whether a variable has as many global dimensions and offsets as dimensions, time left out, or none.
// invalid_global_dimension, invalid_offset.
Outcome<void> check_ranks(const VariableDefinition& variable);

// The integer scalars that a rank has written since it opened the file, by full name: the last value of each.
using ScalarValues = std::map<std::string, int64_t, std::less<>>;

// In C order: what varies slowest is first, whatever the language of the program. Time is left out.
struct Extents {
  bool is_array = false;           // else a scalar; also where time is the only dimension
  Shape shape;                     // of the block
  Shape global_shape, offsets;     // empty: a local array
  std::optional<uint32_t> joined;  // along which blocks are joined; its global size and offset are 0

  bool operator==(const Extents&) const = default;
};

// `names` is the index of `group`. Offsets that are not given are 0. invalid_variable_as_dimension if a name has no
// value yet; invalid_dimension, invalid_global_dimension, invalid_offset if there are more or fewer of them than
// dimensions, one is negative, the block's elements cannot be counted in 64 bits, or it leaves the global array.
Outcome<Extents> evaluate(const GroupDefinition& group, const NameIndex& names, const VariableDefinition& variable,
                          const ScalarValues& scalars);

}  // namespace forebay::io
