// Finds the latest of those requests of a table that a given one has to wait for. Requests are kept by the strides of
// their terms, so that those that interleave are told apart by where they lie within a stride.
#pragma once

#include <memory>
#include <vector>

#include "lock/footprint_tree.h"

namespace forebay::lock {

// The nodes belong to the user.
class TermIndex {
 public:
  struct Node : FootprintTree::Node {
   private:
    friend class TermIndex;
    FootprintTree* tree = nullptr;
  };

  // `node` has a ticket and its access; its place is found from the region.
  void insert(Node& node, const Region& region);
  void erase(Node& node);

  // The latest node before `before` that confirm(node) confirms, or nothing. It is asked for those only whose bytes may
  // be some of `region`'s, and that are exclusive if `exclusive` is not set.
  template <class Confirm>
  Node* latest_before(uint64_t before, const Region& region, bool exclusive, const Confirm& confirm) const {
    FootprintTree::Node* found = nullptr;
    for (const auto& tree : trees_)
      found = tree->latest({footprint(region, tree->strides()), before, exclusive}, found,
                           [&](const FootprintTree::Node& node) { return confirm(static_cast<const Node&>(node)); });
    return static_cast<Node*>(found);
  }

 private:
  FootprintTree& tree_for(const Strides& strides);

  // Each search goes through all of them. What comes with other strides when there are so many is kept by its bounds in
  // the file, in a tree without strides.
  static constexpr size_t kMostTrees = 16;
  std::vector<std::unique_ptr<FootprintTree>> trees_;  // none is empty
};

}  // namespace forebay::lock
