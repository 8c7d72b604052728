// Finds the latest of the requests in it that a given one has to wait for, without visiting those whose footprints lie
// elsewhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lock/footprint.h"

namespace forebay::lock {

// A balanced tree (AVL). Each node knows the hull of the footprints of its subtree, and which requests are in it. What
// is near in all sides is near in the tree (Z-order), so that hulls are small in all of them. The nodes belong to the
// user.
class FootprintTree {
 public:
  struct Node {
    Footprint at;         // these three are the user's
    uint64_t ticket = 0;  // unique, above 0
    bool exclusive = false;

   private:
    friend class FootprintTree;
    Node* left = nullptr;
    Node* right = nullptr;
    int height = 1;
    Footprint hull;                 // of this subtree
    uint64_t least = 0;             // ticket
    uint64_t latest = 0;            // ticket, and
    uint64_t latest_exclusive = 0;  // that of an exclusive request, or 0
  };

  explicit FootprintTree(const Strides& strides) : strides_(strides) {}

  const Strides& strides() const { return strides_; }
  bool empty() const { return root_ == nullptr; }

  // The footprint must be of this tree's strides.
  void insert(Node& node);
  void erase(Node& node) { root_ = erased(root_, node); }

  struct Query {
    Footprint at;         // of this tree's strides
    uint64_t before = 0;  // a ticket
    bool exclusive = false;
  };

  // The latest node before query.before, and after `found` if there is one, whose footprint meets the query's, unless
  // both are shared, and which confirm(node) confirms; `found` if there is none. Subtrees with later nodes are searched
  // first.
  template <class Confirm>
  Node* latest(const Query& query, Node* found, const Confirm& confirm) const {
    Search<Confirm> search{strides_, query, confirm, found};
    search.in(root_);
    return search.found;
  }

 private:
  Node* inserted(Node* tree, Node& node) const;
  Node* erased(Node* tree, Node& node) const;
  Node* without_first(Node* tree, Node*& first) const;
  Node* balanced(Node* tree) const;
  void update(Node* tree) const;
  bool goes_before(const Node& a, const Node& b) const;

  template <class Confirm>
  struct Search {
    const Strides& strides;
    const Query& query;
    const Confirm& confirm;
    Node* found;

    uint64_t best() const { return found ? found->ticket : 0; }

    // No ticket in `tree` that is looked for is greater.
    uint64_t promise(const Node* tree) const {
      if (tree == nullptr || tree->least >= query.before) return 0;
      const uint64_t latest = query.exclusive ? tree->latest : tree->latest_exclusive;
      if (latest <= best() || !may_meet(tree->hull, query.at, strides)) return 0;
      return std::min(latest, query.before - 1);
    }

    void check(Node* node) {
      if (node->ticket > best() && node->ticket < query.before && (node->exclusive || query.exclusive) &&
          may_meet(node->at, query.at, strides) && confirm(*node))
        found = node;
    }

    void in(Node* tree) {
      if (promise(tree) > best()) in_promising(tree);
    }

    void in_promising(Node* tree) {
      Node *first = tree->left, *second = tree->right;
      uint64_t first_promise = promise(first), second_promise = promise(second);
      if (first_promise < second_promise) {
        std::swap(first, second);
        std::swap(first_promise, second_promise);
      }
      const bool own_first = tree->ticket < query.before && tree->ticket > first_promise;
      if (own_first) check(tree);
      if (first_promise > best()) in_promising(first);
      if (!own_first) check(tree);
      if (second_promise > best()) in_promising(second);
    }
  };

  Strides strides_;
  std::array<unsigned, kMostStrides + 1> cell_{};  // for each side: how many bits of an offset are within a cell
  Node* root_ = nullptr;
};

}  // namespace forebay::lock
