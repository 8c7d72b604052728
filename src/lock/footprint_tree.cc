#include "lock/footprint_tree.h"

#include <bit>

namespace forebay::lock {

// Whether the highest bit that is set in `a` is lower than that of `b`.
static bool is_lower(uint64_t a, uint64_t b) { return a < b && a < (a ^ b); }

// The order of a Z-curve through cells, which are as long in each side as the first request was. What begins in the
// same cell is in order of where it begins, in the file first.
bool FootprintTree::goes_before(const Node& a, const Node& b) const {
  size_t side = 0;
  uint64_t greatest = 0;
  for (size_t i = 0; i <= strides_.count; ++i) {
    const uint64_t difference = (a.at.sides[i].first >> cell_[i]) ^ (b.at.sides[i].first >> cell_[i]);
    if (is_lower(greatest, difference)) {
      greatest = difference;
      side = i;
    }
  }
  if (greatest > 0) return a.at.sides[side].first < b.at.sides[side].first;
  for (size_t i = 0; i <= strides_.count; ++i)
    if (a.at.sides[i].first != b.at.sides[i].first) return a.at.sides[i].first < b.at.sides[i].first;
  return a.ticket < b.ticket;
}

void FootprintTree::update(Node* tree) const {
  tree->height = 1;
  tree->hull = tree->at;
  tree->least = tree->latest = tree->ticket;
  tree->latest_exclusive = tree->exclusive ? tree->ticket : 0;
  for (const Node* child : {tree->left, tree->right}) {
    if (child == nullptr) continue;
    tree->height = std::max(tree->height, child->height + 1);
    for (size_t i = 0; i <= strides_.count; ++i) {
      tree->hull.sides[i].first = std::min(tree->hull.sides[i].first, child->hull.sides[i].first);
      tree->hull.sides[i].end = std::max(tree->hull.sides[i].end, child->hull.sides[i].end);
    }
    tree->least = std::min(tree->least, child->least);
    tree->latest = std::max(tree->latest, child->latest);
    tree->latest_exclusive = std::max(tree->latest_exclusive, child->latest_exclusive);
  }
}

// Updates a node whose subtrees have changed and differ in height by two at most, and turns it over if they do.
FootprintTree::Node* FootprintTree::balanced(Node* tree) const {
  const auto height = [](const Node* node) { return node ? node->height : 0; };
  const auto lean = [&](const Node* node) { return height(node->left) - height(node->right); };
  const auto turn = [this](Node* top, Node* Node::* up, Node* Node::* down) {
    Node* child = top->*up;
    top->*up = child->*down;
    child->*down = top;
    update(top);
    update(child);
    return child;
  };
  if (lean(tree) > 1) {
    if (lean(tree->left) < 0) tree->left = turn(tree->left, &Node::right, &Node::left);
    return turn(tree, &Node::left, &Node::right);
  }
  if (lean(tree) < -1) {
    if (lean(tree->right) > 0) tree->right = turn(tree->right, &Node::left, &Node::right);
    return turn(tree, &Node::right, &Node::left);
  }
  update(tree);
  return tree;
}

void FootprintTree::insert(Node& node) {
  // An order is for as long as there is something in it.
  if (root_ == nullptr)
    for (size_t i = 0; i <= strides_.count; ++i) {
      const uint64_t taken = node.at.sides[i].end - node.at.sides[i].first;
      cell_[i] = taken == 0 ? 0 : static_cast<unsigned>(std::bit_width(taken)) - 1;
    }
  root_ = inserted(root_, node);
}

FootprintTree::Node* FootprintTree::inserted(Node* tree, Node& node) const {
  if (tree == nullptr) {
    node.left = node.right = nullptr;
    update(&node);
    return &node;
  }
  Node*& child = goes_before(node, *tree) ? tree->left : tree->right;
  child = inserted(child, node);
  return balanced(tree);
}

FootprintTree::Node* FootprintTree::without_first(Node* tree, Node*& first) const {
  if (tree->left == nullptr) {
    first = tree;
    return tree->right;
  }
  tree->left = without_first(tree->left, first);
  return balanced(tree);
}

FootprintTree::Node* FootprintTree::erased(Node* tree, Node& node) const {
  if (tree != &node) {
    Node*& child = goes_before(node, *tree) ? tree->left : tree->right;
    child = erased(child, node);
    return balanced(tree);
  }
  if (node.right == nullptr) return node.left;
  Node* next = nullptr;
  Node* rest = without_first(node.right, next);
  next->left = node.left;
  next->right = rest;
  return balanced(next);
}

}  // namespace forebay::lock
