// Which cells of a frame are copies, and what stays of its blocks without them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codec/halo/halo_copies.h"

namespace forebay::codec {

class Cover {
 public:
  Cover(const CellNumbers& cells, std::span<const Copy> copies);

  // The smallest box that holds all cells of a block that no copy covers.
  Box kept_part(size_t block) const;

  // Whether the copies, made one after another, restore all that they cover.
  bool is_restored_by(std::span<const Copy> copies) const;

  // Writes the kept part of a block of `in` to `out`, which gets volume(kept_part) elements. Covered cells among them
  // become what costs a predictor next to nothing: along the fastest axis a covered cell repeats the cell before it, or
  // the first kept one behind it; lines without a kept cell then repeat whole lines along the next axis, and so on.
  void write_kept(size_t block, const Box& part, size_t width, const std::byte* in, std::byte* out) const;

 private:
  const CellNumbers& cells_;
  std::vector<uint8_t> covered_;  // 1 if a copy covers the cell
};

}  // namespace forebay::codec
