// Where the bytes of a box of an array lie: among the bytes that are stored of the array, which are blocks (HDF5
// chunks, netCDF records; one block if it is contiguous) one after another, and in a destination that holds the box
// alone, in C order. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/shape.h"

namespace forebay::engine {

// Part of an array: count[i] elements from begin[i] on in each dimension, in the order of the array's shape.
struct Box {
  Shape begin, count;
};

// All of an array.
Box whole_box(const Shape& shape);

// How many blocks of shape `block` cover an array of shape `shape`; UINT64_MAX if it does not fit. The shapes have the
// same rank; 0 if any dimension of either is 0.
uint64_t block_count(const Shape& shape, const Shape& block);

// The box's bytes, seen from the stored bytes of its array. Thread-safe.
class BoxLayout {
 public:
  // The array of `shape` is stored as block_count(shape, block) blocks, in the C order of the block grid; those at its
  // far edge are stored whole. invalid_argument, naming the dimension and its size, unless `box` has the rank of
  // `shape`, is not empty, and lies inside, or if the blocks are empty; limit if these have 2^64 bytes or more.
  static Result<BoxLayout> make(const Shape& shape, const Shape& block, uint64_t element_bytes, const Box& box);

  // The box's bytes, which are those of the destination.
  uint64_t bytes() const { return bytes_; }

  // The array's bytes as they are stored, with what blocks at its edge have beyond it.
  uint64_t stored_bytes() const { return stored_bytes_; }

  // The first of the stored bytes from `stored` on that belongs to the box.
  std::optional<uint64_t> next(uint64_t stored) const;

  // Calls visit for each unbroken run of the box's bytes among the stored bytes [begin, end), in rising order: where
  // the run lies among the stored bytes, where in the destination, and how long it is.
  using Visit = std::function<void(uint64_t stored, uint64_t target, uint64_t length)>;
  void for_each_run(uint64_t begin, uint64_t end, const Visit& visit) const;

 private:
  class Cursor;
  BoxLayout() = default;
  void merge_whole_dimensions();

  // The array seen as one of bytes: the last dimension counts them. Dimensions that the box, the block and the array
  // have in whole are one with the dimension before them.
  Shape shape_, block_;
  Box box_;
  Shape grid_;                            // the blocks in each dimension
  Shape first_block_, end_block_;         // those that hold a part of the box
  Shape block_strides_, target_strides_;  // the bytes from an element to the next one, in a block and in the target
  uint64_t block_bytes_ = 0, bytes_ = 0, stored_bytes_ = 0;
};

// Cuts a box into boxes that follow each other in the destination, of at most `most_bytes` bytes each if
// `element_bytes` are no more than that, and of one element if they are. As far as that allows, they end where blocks
// of shape `block` do, so that no block is needed twice.
class Slabs {
 public:
  Slabs(Box box, const Shape& block, uint64_t element_bytes, uint64_t most_bytes);

  // The next one, until there are no more.
  std::optional<Box> next();

 private:
  Box box_;
  Shape block_;
  size_t cut_ = 0;  // the dimension that is cut into stretches; of those before it each slab has one index
  uint64_t stretch_ = 1;
  Shape at_;  // where the next slab begins
  bool done_ = false;
};

}  // namespace forebay::engine
