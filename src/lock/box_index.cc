#include "lock/box_index.h"

namespace forebay::lock {
namespace {

bool goes_before(const BoxIndex::Node& a, const BoxIndex::Node& b) {
  return a.box.first != b.box.first ? a.box.first < b.box.first : a.ticket < b.ticket;
}

}  // namespace

void BoxIndex::update(Node* tree) {
  tree->height = 1;
  tree->end = tree->box.end;
  tree->least = tree->latest = tree->ticket;
  tree->latest_exclusive = tree->exclusive ? tree->ticket : 0;
  for (const Node* child : {tree->left, tree->right}) {
    if (child == nullptr) continue;
    tree->height = std::max(tree->height, child->height + 1);
    tree->end = std::max(tree->end, child->end);
    tree->least = std::min(tree->least, child->least);
    tree->latest = std::max(tree->latest, child->latest);
    tree->latest_exclusive = std::max(tree->latest_exclusive, child->latest_exclusive);
  }
}

// Updates a node whose subtrees have changed and differ in height by two at most, and turns it over if they do.
BoxIndex::Node* BoxIndex::balanced(Node* tree) {
  const auto height = [](const Node* node) { return node ? node->height : 0; };
  const auto lean = [&](const Node* node) { return height(node->left) - height(node->right); };
  const auto turn = [](Node* top, Node* Node::* up, Node* Node::* down) {
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

BoxIndex::Node* BoxIndex::inserted(Node* tree, Node& node) {
  if (tree == nullptr) {
    node.left = node.right = nullptr;
    update(&node);
    return &node;
  }
  Node*& child = goes_before(node, *tree) ? tree->left : tree->right;
  child = inserted(child, node);
  return balanced(tree);
}

BoxIndex::Node* BoxIndex::without_first(Node* tree, Node*& first) {
  if (tree->left == nullptr) {
    first = tree;
    return tree->right;
  }
  tree->left = without_first(tree->left, first);
  return balanced(tree);
}

BoxIndex::Node* BoxIndex::erased(Node* tree, Node& node) {
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
