// The attributes that process groups hold, where they lie in a file of a set.
#pragma once

#include <vector>

#include "base/byte_source.h"
#include "view/model/array.h"

namespace forebay::view {

// Those of all process groups of a file that grows, the last value of each, by name. The bytes are hostile; errors of
// the source, corrupt, limit.
Result<std::vector<Attribute>> attributes_of_groups(const ByteSource& source);

}  // namespace forebay::view
