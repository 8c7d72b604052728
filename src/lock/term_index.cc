#include "lock/term_index.h"

#include <algorithm>

namespace forebay::lock {

FootprintTree& TermIndex::tree_for(const Strides& strides) {
  const auto found = std::ranges::find(trees_, strides, [](const auto& tree) { return tree->strides(); });
  if (found != trees_.end()) return **found;
  if (strides.count > 0 && trees_.size() >= kMostTrees) return tree_for({});
  return *trees_.emplace_back(std::make_unique<FootprintTree>(strides));
}

void TermIndex::insert(Node& node, const Region& region) {
  node.tree = &tree_for(strides_of(region));
  node.at = footprint(region, node.tree->strides());
  node.tree->insert(node);
}

void TermIndex::erase(Node& node) {
  node.tree->erase(node);
  if (node.tree->empty()) std::erase_if(trees_, [&](const auto& tree) { return tree.get() == node.tree; });
}

}  // namespace forebay::lock
