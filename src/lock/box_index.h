// Finds the latest of those requests of a table that a given one has to wait for, without visiting those whose bounds
// lie elsewhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lock/region.h"

namespace forebay::lock {

// A balanced tree (AVL) in order of where the bounds begin. Each node knows of its subtree how far it reaches and which
// requests are in it. The nodes belong to the user.
class BoxIndex {
 public:
  struct Node {
    Extent box;           // these three are the user's
    uint64_t ticket = 0;  // unique, above 0
    bool exclusive = false;

   private:
    friend class BoxIndex;
    Node* left = nullptr;
    Node* right = nullptr;
    int height = 1;
    uint64_t end = 0;               // of all boxes of this subtree, the greatest
    uint64_t least = 0;             // ticket
    uint64_t latest = 0;            // ticket, and
    uint64_t latest_exclusive = 0;  // that of an exclusive request, or 0
  };

  void insert(Node& node) { root_ = inserted(root_, node); }
  void erase(Node& node) { root_ = erased(root_, node); }

  // The latest node before `before` whose box overlaps that of `node`, unless both are shared, and which `confirm`
  // confirms; or nothing. Subtrees with later nodes are searched first.
  template <class Confirm>
  Node* latest_before(uint64_t before, const Node& node, const Confirm& confirm) const {
    Search<Confirm> search{node, before, confirm};
    search.in(root_);
    return search.found;
  }

 private:
  static Node* inserted(Node* tree, Node& node);
  static Node* erased(Node* tree, Node& node);
  static Node* without_first(Node* tree, Node*& first);
  static Node* balanced(Node* tree);
  static void update(Node* tree);

  template <class Confirm>
  struct Search {
    const Node& node;
    uint64_t before;
    const Confirm& confirm;
    Node* found = nullptr;

    uint64_t best() const { return found ? found->ticket : 0; }

    // No ticket in `tree` that is looked for is greater.
    uint64_t promise(const Node* tree) const {
      if (tree == nullptr || tree->end <= node.box.first || tree->least >= before) return 0;
      return std::min(node.exclusive ? tree->latest : tree->latest_exclusive, before - 1);
    }

    void check(Node* other) {
      if (other->ticket > best() && other->ticket < before && (other->exclusive || node.exclusive) &&
          other->box.first < node.box.end && node.box.first < other->box.end && confirm(*other))
        found = other;
    }

    void in(Node* tree) {
      if (promise(tree) <= best()) return;
      Node* first = tree->left;
      Node* second = tree->box.first < node.box.end ? tree->right : nullptr;  // begins here or later
      if (promise(first) < promise(second)) std::swap(first, second);
      const bool own_first = tree->ticket < before && tree->ticket > promise(first);
      if (own_first) check(tree);
      in(first);
      if (!own_first) check(tree);
      in(second);
    }
  };

  Node* root_ = nullptr;
};

}  // namespace forebay::lock
