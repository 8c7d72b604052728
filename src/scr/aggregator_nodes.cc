#include "scr/aggregator_nodes.h"

#include <algorithm>
#include <unordered_map>

namespace forebay::scr {

size_t aggregators_of(size_t nodes) {
  constexpr size_t kNodesOfOne = 32;
  return std::max<size_t>(std::min<size_t>(nodes, 2), (nodes + kNodesOfOne - 1) / kNodesOfOne);
}

bool has_aggregator(std::span<const uint64_t> node_of_rank, uint64_t mine) {
  std::unordered_map<uint64_t, size_t> places;
  for (const uint64_t node : node_of_rank) places.emplace(node, places.size());
  const auto found = places.find(mine);
  if (found == places.end()) return false;
  const size_t wanted = aggregators_of(places.size());
  const auto before = [&](size_t place) { return (place * wanted + places.size() - 1) / places.size(); };
  return before(found->second + 1) > before(found->second);
}

}  // namespace forebay::scr
