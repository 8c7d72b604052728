// Which block gives which part of a box. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "view/model/array.h"

namespace forebay::view {

// What two boxes of one array have in common; its counts are all 0 if that is nothing.
Box intersection(const Box& a, const Box& b);
bool is_empty(const Box& box);  // false for a scalar's, which has no dimensions
uint64_t volume(const Box& box);

// What is left of `box` without `hole`: disjoint boxes, at most two for each dimension.
std::vector<Box> without(const Box& box, const Box& hole);

// Blocks of one array in an order in which those that touch a box are found without looking at all. Thread-safe.
class BlockIndex {
 public:
  // The places of blocks, in the order in which they were written, each with the same number of dimensions.
  explicit BlockIndex(std::vector<Box> places);

  size_t size() const { return places_.size(); }
  const Box& place(size_t block) const { return places_[block]; }

  // The blocks that touch `box`, rising.
  std::vector<size_t> touching(const Box& box) const;

  // The last written block that covers an element.
  std::optional<size_t> covering(std::span<const uint64_t> element) const;

 private:
  template <class Visit>
  void for_each_near(uint64_t begin, uint64_t end, const Visit& visit) const;

  std::vector<Box> places_;
  std::vector<size_t> order_;          // by where the blocks begin in the first dimension
  std::vector<uint64_t> latest_ends_;  // the largest end, in that dimension, of the blocks up to each in that order
};

// A part of a box that a block gives, in indices of the array.
struct Share {
  size_t block = 0;
  Box box;
};

struct Cover {
  std::vector<Share> shares;  // disjoint
  uint64_t holes = 0;         // elements of the box that no block has
};

// Where blocks overlap the one that was written later counts. limit if more than `most_shares` pairs of them overlap,
// or are left, or if it would take very long to find out.
inline constexpr size_t kMostShares = size_t{1} << 21;
Result<Cover> cover(const BlockIndex& index, const Box& box, size_t most_shares = kMostShares);

}  // namespace forebay::view
