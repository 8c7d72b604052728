// Selections as pieces of blocks: what a step is asked to read, and where it goes. Pure.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "view/read/cover.h"
#include "view/source/step.h"

namespace forebay::view {

// Where the elements of a box go: the first one, and the bytes from one to the next in each dimension.
struct Destination {
  std::byte* first = nullptr;
  std::vector<uint64_t> strides;
};

// A dense array of `shape`.
Destination dense(std::byte* first, const Shape& shape, uint64_t element_bytes);

// The blocks of one array of one step, ready to be looked for.
class ArrayBlocks {
 public:
  // `array` must outlive this. corrupt if a block of a global array lies outside of it.
  static Result<std::unique_ptr<const ArrayBlocks>> make(const Array& array, std::vector<Block> blocks);

  const Array& array() const { return array_; }
  std::span<const Block> blocks() const { return blocks_; }

  // The pieces that fill a box of the global array, with `tag`, added to `pieces`. How many elements no block has.
  // limit as of cover().
  Result<uint64_t> add_box(const Box& box, const Destination& to, size_t tag, std::vector<Piece>& pieces) const;

  // Likewise for single elements of it.
  Result<uint64_t> add_points(std::span<const uint64_t> indices, std::byte* out, size_t tag,
                              std::vector<Piece>& pieces) const;

  // And for a box of one block.
  void add_block(size_t block, const Box& box, const Destination& to, size_t tag, std::vector<Piece>& pieces) const;

 private:
  ArrayBlocks(const Array& array, std::vector<Block> blocks);
  Result<uint64_t> add_rows(const Box& box, const Destination& to, size_t tag, std::vector<Piece>& pieces) const;
  std::optional<std::pair<size_t, uint64_t>> row_of(uint64_t index) const;

  const Array& array_;
  std::vector<Block> blocks_;
  BlockIndex index_;                                               // of a global array
  bool has_lists_ = false;                                         // whether any block lies at listed indices
  std::vector<std::vector<std::pair<uint64_t, uint64_t>>> lists_;  // of each such block: index and row, by index
};

}  // namespace forebay::view
