#include "convert/plan/chunks.h"

#include <algorithm>

namespace forebay::convert {

Shape chunk_of(const Dataset& dataset, const Shape& wanted) {
  constexpr uint64_t kChunkBytes = 1 << 20;
  const size_t leading = (dataset.has_steps ? 1 : 0) + (dataset.has_blocks ? 1 : 0);
  Shape chunk = dataset.shape;
  for (uint64_t& length : chunk) length = std::max<uint64_t>(length, 1);
  std::fill_n(chunk.begin(), leading, uint64_t{1});
  const auto own = std::span(chunk).subspan(leading);
  if (!wanted.empty() && wanted.size() == own.size()) {
    for (size_t d = 0; d < own.size(); ++d) own[d] = std::clamp<uint64_t>(wanted[d], 1, own[d]);
    return chunk;
  }
  while (!own.empty() && element_count(own) > kChunkBytes / dataset.type.bytes()) {
    uint64_t& longest = *std::ranges::max_element(own);
    if (longest == 1) break;
    longest = (longest + 1) / 2;
  }
  return chunk;
}

}  // namespace forebay::convert
