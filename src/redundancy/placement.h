// Which nodes protect each other (decision 0037). Pure; the same for the same nodes, in whatever order they come.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "redundancy/scheme.h"

namespace forebay::redundancy {

struct PlacedNode {
  std::string name;  // tells nodes apart, and orders them
  std::vector<std::string>
      labels;          // of failure groups, one for each kind that counts: no two members of a group share any
  uint64_t bytes = 0;  // of its part
};

struct Placement {
  std::vector<std::vector<unsigned>> groups;  // indices of nodes, in the order of positions
  std::vector<unsigned> unprotected;          // nodes that no group can take: too many share a label
};

// Groups of at least protection.group_size nodes each (two for partner) whose sizes differ by at most one, where the
// nodes' labels allow that; larger and fewer groups never, smaller ones where there are fewer nodes. Nodes of like
// size come together, as far as the labels leave a choice: the chunk of a group follows its largest part. Scheme none
// gives no groups and nobody unprotected; a single node is unprotected.
Placement place(const std::vector<PlacedNode>& nodes, const Protection& protection);

}  // namespace forebay::redundancy
