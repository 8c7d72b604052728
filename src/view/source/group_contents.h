// What process groups say of themselves, where they lie in a file of a set.
#pragma once

#include "base/byte_source.h"
#include "base/error.h"
#include "view/place/groups.h"

namespace forebay::view {

// Of all process groups of a file that grows. The bytes are hostile; errors of the source, corrupt, limit.
Result<GroupContents> contents_of_groups(const ByteSource& source);

}  // namespace forebay::view
