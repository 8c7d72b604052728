#include "format/hdf5_heap.h"

#include <algorithm>
#include <bit>

namespace forebay::format::hdf5 {
// Section III.G.
Result<FractalHeap> FractalHeap::open(File& file, uint64_t address) {
  const size_t length_size = file.length_size(), offset_size = file.offset_size();
  FractalHeap heap(file);
  heap.address_ = address;
  Bytes buffer;
  FOREBAY_TRY(Cursor header, file.read(address, 22 + 12 * length_size + 3 * offset_size, buffer));
  if (!header.expect("FRHP") || header.u8() != 0) return file.corrupt("no heap where there should be one", address);
  header.skip(2);
  if (header.u16() != 0) return file.unsupported("a heap with filters", address);
  header.skip(1);
  const uint32_t max_managed = header.u32();
  header.skip(10 * length_size + 2 * offset_size);
  heap.width_ = header.u16();
  heap.start_size_ = file.length(header);
  heap.max_direct_size_ = file.length(header);
  const uint16_t max_bits = header.u16();
  header.skip(2);
  heap.root_ = file.address(header);
  heap.root_rows_ = header.u16();
  const bool sane = std::has_single_bit(heap.width_) && std::has_single_bit(heap.start_size_) &&
                    std::has_single_bit(heap.max_direct_size_) && heap.start_size_ <= heap.max_direct_size_ &&
                    heap.max_direct_size_ <= UINT32_MAX && max_bits >= 1 && max_bits <= 64 && header.ok();
  if (!sane) return file.corrupt("a heap of impossible geometry", address);
  heap.offset_bytes_ = (max_bits + 7u) / 8;
  heap.length_bytes_ = std::min<size_t>((log2_floor(heap.max_direct_size_) + 7) / 8, bytes_for(max_managed));
  return heap;
}

Result<Cursor> FractalHeap::object(Cursor id, Bytes& buffer) {
  constexpr uint8_t kKindMask = 0x30;  // 0 in these bits: managed
  if ((id.u8() & kKindMask) != 0) return file_->unsupported("a heap object that is not managed", address_);
  const uint64_t offset = id.number(offset_bytes_);
  const Span span{.offset = offset, .length = id.number(length_bytes_)};
  if (!id.ok()) return file_->corrupt("a heap ID that is too short", address_);
  FOREBAY_TRY(const uint64_t at, locate(span));
  return file_->read(at, span.length, buffer);
}

// The address of entry number `entry` of the indirect block at `indirect_block`.
Result<uint64_t> FractalHeap::child(uint64_t indirect_block, uint64_t entry) const {
  const uint64_t prefix = 5 + file_->offset_size() + offset_bytes_;
  Bytes buffer;
  FOREBAY_TRY(Cursor cursor, file_->read(indirect_block, prefix, buffer));
  if (!cursor.expect("FHIB")) return file_->corrupt("a damaged indirect heap block", indirect_block);
  FOREBAY_TRY(cursor,
              file_->read(indirect_block + prefix + entry * file_->offset_size(), file_->offset_size(), buffer));
  return file_->address(cursor);
}

// Descends the doubling table: row 0 and 1 of a block have children of the starting size, every further row children of
// twice the size of the row before; rows of children larger than the largest direct block have indirect blocks.
Result<uint64_t> FractalHeap::locate(Span span) const {
  const uint64_t first_row_bits = log2_floor(start_size_) + log2_floor(width_);
  const uint64_t direct_rows = log2_floor(max_direct_size_) - log2_floor(start_size_) + 2;
  uint64_t block = root_, rows = root_rows_, block_size = start_size_, offset = span.offset;
  for (bool direct = rows == 0; !direct;) {
    const uint64_t row = (offset >> first_row_bits) == 0 ? 0 : log2_floor(offset) - first_row_bits + 1;
    if (row >= rows) return file_->corrupt("a heap object outside the heap", block);
    if (row > 0) offset -= uint64_t{1} << (first_row_bits + row - 1);
    block_size = row_size(row);
    FOREBAY_TRY(block, child(block, row * width_ + offset / block_size));
    offset %= block_size;
    direct = row < direct_rows;
    // Each step down has fewer rows than the one before: row < rows <= 65535, and the block's size is its child's.
    rows = log2_floor(block_size) - first_row_bits + 1;
  }
  if (offset >= block_size || span.length > block_size - offset)
    return file_->corrupt("a heap object outside its block", block);
  return block + offset;
}

}  // namespace forebay::format::hdf5
