// Brings nodes into a given number of groups so that no two with a common label meet. Of placement.cc only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace forebay::redundancy {

struct LabelledNode {
  std::vector<uint32_t> labels;  // ascending; those that no other node has are left out
  uint64_t bytes = 0;
};

using Groups = std::vector<std::vector<unsigned>>;  // indices of nodes

// Each of `order` into the first (or, with `evenly`, the emptiest) group that has room and none of its labels; where
// there is none, others make way, as far as a bounded search finds. The first groups have one member more where the
// nodes cannot be shared evenly. Nothing if a node finds no group.
std::optional<Groups> fill_groups(const std::vector<LabelledNode>& nodes, const std::vector<unsigned>& order,
                                  unsigned groups, bool evenly);

// The best of all ways for a few nodes: the fewest left out, then the fewest groups but at least `fewest` (or as many
// as two members each allow), then the least sum of largest parts. Left out are those in no group. Of 8 nodes at most.
inline constexpr unsigned kFewNodes = 8;
Groups search_groups(const std::vector<LabelledNode>& nodes, const std::vector<unsigned>& order, unsigned fewest);

}  // namespace forebay::redundancy
