#include <algorithm>

#include "io/group/process_group.h"
#include "merge/cut.h"

namespace forebay::io {

uint64_t hashed_bytes(ValueType type, const Shape& shape) {
  if (type == ValueType::string || type == ValueType::string_array) return kMostHashedBytes;
  const uint64_t element = std::max<uint64_t>(1, element_bytes(type));
  uint64_t total = 0;
  if (!__builtin_mul_overflow(element_count(shape), element, &total) && total <= kMostHashedBytes)
    return std::max<uint64_t>(1, total);
  const uint64_t unit = merge::cut_unit(shape, element, kMostHashedBytes);
  return kMostHashedBytes / unit * unit;
}

}  // namespace forebay::io
