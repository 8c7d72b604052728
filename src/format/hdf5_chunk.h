// Where the chunks of a chunked dataset lie.
#pragma once

#include <vector>

#include "base/layout.h"
#include "format/hdf5_grid.h"
#include "format/hdf5_object.h"

namespace forebay::format::hdf5 {

struct Chunk {
  uint64_t cell = 0;  // its number in the grid, in C order
  Extent extent;      // in the file
  uint32_t mask = 0;  // the filters that it did not go through
};

// Collects chunks on behalf of the readers of the several indexes.
class ChunkList {
 public:
  ChunkList(File& file, const ChunkGrid& grid, uint64_t chunk_bytes, bool filtered)
      : file_(file), grid_(grid), chunk_bytes_(chunk_bytes), filtered_(filtered) {}

  const ChunkGrid& grid() const { return grid_; }
  uint64_t chunk_bytes() const { return chunk_bytes_; }
  bool filtered() const { return filtered_; }

  // Adds a chunk unless it has no storage or no cell. `stored_bytes` counts if filters are applied. limit if there are
  // more chunks than a file may have.
  Result<void> add(std::optional<uint64_t> cell, uint64_t address, uint64_t stored_bytes, uint32_t mask = 0);

  // In order of their cells. corrupt if two have the same cell.
  Result<std::vector<Chunk>> take();

 private:
  File& file_;
  const ChunkGrid& grid_;
  const uint64_t chunk_bytes_;
  const bool filtered_;
  std::vector<Chunk> chunks_;
};

// Both kinds of array index: element number i is the chunk with index i (ChunkGrid::cell_of_index).
Result<void> read_fixed_array(File& file, uint64_t address, ChunkList& chunks);
Result<void> read_extensible_array(File& file, uint64_t address, ChunkList& chunks);

// One element of an array index: the address, and with filters the stored size and the filter mask.
Result<void> add_element(File& file, Cursor& elements, size_t element_size, uint64_t index, ChunkList& chunks);

// All chunks of `object`, whose storage is chunked, by whichever index they are found, in order of their cells.
Result<std::vector<Chunk>> read_chunks(File& file, const Object& object, const ChunkGrid& grid);

}  // namespace forebay::format::hdf5
