#include "io/group/process_group.h"

namespace forebay::io {

bool has_place(const Block& block) {
  const size_t dimensions = block.shape.size();
  if (dimensions == 0 || block.global_shape.size() != dimensions || block.offsets.size() != dimensions) return false;
  for (size_t d = 0; d < dimensions; ++d)
    if (block.offsets[d] > block.global_shape[d] || block.shape[d] > block.global_shape[d] - block.offsets[d])
      return false;
  return true;
}

}  // namespace forebay::io
