// The grid of a dataset's chunks: pure arithmetic.
#pragma once

#include <optional>

#include "format/hdf5_message.h"

namespace forebay::format::hdf5 {

class ChunkGrid {
 public:
  // Nothing if space and chunk do not match, or the grid has more cells than can be counted.
  static std::optional<ChunkGrid> make(const Dataspace& space, const Shape& chunk);

  size_t rank() const { return counts_.size(); }
  uint64_t cells() const { return cells_; }  // of the dataset's present extent

  // The number in C order of the cell at `scaled` (in chunks), or nothing outside the present extent.
  std::optional<uint64_t> cell_at(const Shape& scaled) const;

  // Whether the cell reaches over the edge of the present extent.
  bool is_cut(uint64_t cell) const;

  // As cell_at(), from element offsets.
  std::optional<uint64_t> cell_at_element(const Shape& offsets) const;

  // Array indexes number the cells of the maximal extent, the unlimited dimension (if any) being the slowest. These
  // translate between such an index and a cell of the present extent.
  std::optional<uint64_t> cell_of_index(uint64_t index) const;
  std::optional<uint64_t> index_of_cell(uint64_t cell) const;  // nothing if it cannot be counted

 private:
  Shape shape_, chunk_;        // elements
  Shape counts_, maximum_;     // of chunks, in the present and in the maximal extent
  std::vector<size_t> order_;  // the dimensions from the slowest to the fastest as indexes number them
  uint64_t cells_ = 0;
};

}  // namespace forebay::format::hdf5
