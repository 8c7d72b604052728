#include "engine/inspect/unblock.h"

#include <algorithm>
#include <cstring>

namespace forebay::engine {
namespace {

uint64_t divide_up(uint64_t value, uint64_t unit) { return value / unit + (value % unit != 0); }

// Where the element number `element` of the stored sequence lies: its coordinates in the array.
Shape coordinates(const Shape& shape, const Shape& block, uint64_t element) {
  const uint64_t block_elements = element_count(block);
  uint64_t number = element / block_elements, within = element % block_elements;
  Shape at(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    const uint64_t grid = divide_up(shape[i], block[i]);
    at[i] = number % grid * block[i] + within % block[i];
    number /= grid;
    within /= block[i];
  }
  return at;
}

}  // namespace

uint64_t block_count(const Shape& shape, const Shape& block) {
  uint64_t count = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 || block[i] == 0) return 0;
    if (count != UINT64_MAX && __builtin_mul_overflow(count, divide_up(shape[i], block[i]), &count)) count = UINT64_MAX;
  }
  return count;
}

void unblock(const Shape& shape, const Shape& block, uint64_t element_bytes, uint64_t begin,
             std::span<const std::byte> stored, std::span<std::byte> array) {
  if (shape == block) {
    std::memcpy(array.data() + begin, stored.data(), stored.size());
    return;
  }
  const size_t last = shape.size() - 1;  // a scalar is its own block
  uint64_t element = begin / element_bytes;
  for (size_t from = 0; from < stored.size();) {
    const Shape at = coordinates(shape, block, element);
    const uint64_t row_left = block[last] - element % block[last];
    const uint64_t run = std::min<uint64_t>(row_left, (stored.size() - from) / element_bytes);
    bool inside = true;
    uint64_t index = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      inside = inside && at[i] < shape[i];
      index = index * shape[i] + at[i];
    }
    if (inside)
      std::memcpy(array.data() + index * element_bytes, stored.data() + from,
                  std::min(run, shape[last] - at[last]) * element_bytes);
    from += run * element_bytes;
    element += run;
  }
}

}  // namespace forebay::engine
