// The parameters of the halo transform: boxes of cells that copy other cells of the same frame (docs/codecs.md,
// "halo").
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/shape.h"

namespace forebay::codec {

inline constexpr size_t kAxes = 4;
using Coordinates = std::array<uint32_t, kAxes>;

inline uint64_t volume(const Coordinates& extent) { return uint64_t{extent[0]} * extent[1] * extent[2] * extent[3]; }

// Cells of one block.
struct Box {
  Coordinates begin{}, end{};

  bool empty() const;
  Box common(const Box& other) const;  // the cells in both
  Coordinates extent() const;          // unless some end lies before its begin
};

// The cells of a box of one block are those of an equal box of the same or an earlier block.
struct Copy {
  uint32_t from_block = 0, to_block = 0;
  Coordinates from{}, to{}, extent{};

  bool within_block() const { return from_block == to_block; }
  bool operator==(const Copy&) const = default;
};

Box source(const Copy& copy);
Box destination(const Copy& copy);

// The numbers of a frame's cells, block after block.
class CellNumbers {
 public:
  static constexpr uint64_t kMaxBlocks = 1 << 16;

  // Whether there are at most kMaxBlocks blocks and fewer than 2^32 cells, which the others demand.
  static bool fit(const FrameShape& shape);

  explicit CellNumbers(const FrameShape& shape);

  const std::vector<Block>& blocks() const { return blocks_; }
  uint32_t total() const { return first_.back(); }
  uint32_t first(size_t block) const { return first_[block]; }

  uint32_t operator()(size_t block, const Coordinates& at) const {
    const auto& d = blocks_[block].dims;
    return first_[block] + static_cast<uint32_t>(((at[0] * d[1] + at[1]) * d[2] + at[2]) * d[3] + at[3]);
  }

  Box whole(size_t block) const;

  // Calls visit(place of the first cell, its number) for each row of a box.
  template <class Visit>
  void for_each_row_at(size_t block, const Box& box, Visit visit) const {
    if (box.empty()) return;
    Coordinates at = box.begin;
    for (at[0] = box.begin[0]; at[0] < box.end[0]; ++at[0])
      for (at[1] = box.begin[1]; at[1] < box.end[1]; ++at[1])
        for (at[2] = box.begin[2]; at[2] < box.end[2]; ++at[2]) visit(std::as_const(at), (*this)(block, at));
  }

  // Calls visit(number of the first cell, cells) for each row of a box.
  template <class Visit>
  void for_each_row(size_t block, const Box& box, Visit visit) const {
    const size_t count = box.end[3] - box.begin[3];
    for_each_row_at(block, box, [&](const Coordinates&, size_t first) { visit(first, count); });
  }

  // Calls visit(number of the first source cell, number of the first destination cell, cells) for each row of a copy,
  // until it returns false. Returns whether it never did.
  template <class Visit>
  bool for_each_row(const Copy& copy, Visit visit) const {
    Coordinates at{};
    for (at[0] = 0; at[0] < copy.extent[0]; ++at[0])
      for (at[1] = 0; at[1] < copy.extent[1]; ++at[1])
        for (at[2] = 0; at[2] < copy.extent[2]; ++at[2])
          if (!visit((*this)(copy.from_block, sum(copy.from, at)), (*this)(copy.to_block, sum(copy.to, at)),
                     copy.extent[3]))
            return false;
    return true;
  }

 private:
  static Coordinates sum(const Coordinates& a, const Coordinates& b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
  }

  const std::vector<Block>& blocks_;
  std::vector<uint32_t> first_;
};

// Bounds on what parameters may declare.
inline constexpr size_t kMaxCopies = 1 << 14;
inline constexpr size_t kMaxListBytes = 1 << 18;
inline constexpr uint64_t kMaxCopiedPerCell = 4;  // the cells of all copies, over the cells of the frame

// A copy that saves fewer bytes of elements is not worth those that it takes itself. Elements that equal the one before
// them do not count: they cost little anyway.
inline constexpr size_t kMinSavedBytes = 32;

// The parameters that say `copies`, which are ordered by to_block; empty if they are too many.
Bytes encode_copies(const CellNumbers& cells, std::span<const Copy> copies);

// corrupt unless all boxes lie in their blocks, no source comes from a later block or shares cells with its
// destination, and all of it stays within the bounds. Whether each copy finds its source restored is for Cover to say.
Result<std::vector<Copy>> decode_copies(const CellNumbers& cells, std::span<const std::byte> parameters);

}  // namespace forebay::codec
