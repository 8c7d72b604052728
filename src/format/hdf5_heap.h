// Fractal heaps, which hold the link messages of dense groups.
#pragma once

#include "format/hdf5_file.h"

namespace forebay::format::hdf5 {

class FractalHeap {
 public:
  // Reads the header at `address`. unsupported if the heap's blocks are filtered.
  static Result<FractalHeap> open(File& file, uint64_t address);

  // Copies the managed object that the heap ID at `id` names to `buffer`. unsupported if the object is of another kind.
  Result<Cursor> object(Cursor id, Bytes& buffer);

 private:
  // A range of the heap's own linear address space.
  struct Span {
    uint64_t offset, length;
  };

  explicit FractalHeap(File& file) : file_(&file) {}
  Result<uint64_t> locate(Span span) const;
  Result<uint64_t> child(uint64_t indirect_block, uint64_t entry) const;
  uint64_t row_size(uint64_t row) const { return start_size_ << (row == 0 ? 0 : row - 1); }

  File* file_;
  uint64_t address_ = 0, root_ = kUndefined;
  uint64_t width_ = 0, start_size_ = 0, max_direct_size_ = 0;  // of the doubling table
  uint64_t root_rows_ = 0;                                     // 0: the root is a direct block
  size_t offset_bytes_ = 0, length_bytes_ = 0;                 // of the fields of a heap ID
};

}  // namespace forebay::format::hdf5
