#include "format/hdf5_chunk.h"

#include <algorithm>

#include "format/hdf5_btree2.h"

namespace forebay::format::hdf5 {

Result<void> ChunkList::add(std::optional<uint64_t> cell, uint64_t address, uint64_t stored_bytes, uint32_t mask) {
  if (!cell || address == kUndefined) return {};
  if (chunks_.size() >= kMaxExtentsPerFile)
    return fail(ErrorKind::limit, "HDF5: a dataset has too many chunks", file_.source().name());
  FOREBAY_CHECK(file_.pay(sizeof(Chunk)));
  chunks_.push_back({.cell = *cell,
                     .extent = {.offset = file_.base() + address, .length = filtered_ ? stored_bytes : chunk_bytes_},
                     .mask = mask});
  return {};
}

Result<std::vector<Chunk>> ChunkList::take() {
  if (!std::ranges::is_sorted(chunks_, {}, &Chunk::cell)) std::ranges::sort(chunks_, {}, &Chunk::cell);
  if (std::ranges::adjacent_find(chunks_, {}, &Chunk::cell) != chunks_.end())
    return file_.corrupt("two chunks at one place", 0);
  return std::move(chunks_);
}

Result<void> add_element(File& file, Cursor& elements, size_t element_size, uint64_t index, ChunkList& chunks) {
  constexpr size_t kMask = 4;
  const uint64_t address = file.address(elements);
  uint64_t stored = 0;
  uint32_t mask = 0;
  if (chunks.filtered()) {
    stored = elements.number(element_size - file.offset_size() - kMask);
    mask = elements.u32();
  }
  return chunks.add(chunks.grid().cell_of_index(index), address, stored, mask);
}

namespace {

// Section III.A.1. Keys are the stored size, the filter mask and the first element of the chunk; the key behind the
// last child is not needed. Levels fall by one at each step down, which bounds the depth.
Result<void> read_btree1(File& file, uint64_t address, int parent_level, ChunkList& chunks) {
  constexpr int kAboveAll = 256;
  const size_t rank = chunks.grid().rank();
  const uint64_t prefix = 8 + 2 * file.offset_size(), entry = 8 + 8 * (rank + 1) + file.offset_size();
  Bytes buffer;
  FOREBAY_TRY(Cursor cursor, file.read(address, prefix, buffer));
  if (!cursor.expect("TREE") || cursor.u8() != 1)
    return file.corrupt("no chunk index where there should be one", address);
  const int level = cursor.u8();
  const uint16_t entries = cursor.u16();
  if (level >= parent_level || (parent_level < kAboveAll && level != parent_level - 1))
    return file.corrupt("a chunk index with a wrong level", address);
  FOREBAY_TRY(cursor, file.read(address + prefix, entries * entry, buffer));
  Shape offsets(rank);
  for (int i = 0; i < entries; ++i) {
    const uint32_t stored = cursor.u32(), mask = cursor.u32();
    for (uint64_t& offset : offsets) offset = cursor.u64();
    cursor.skip(8);
    const uint64_t child = file.address(cursor);
    FOREBAY_CHECK(level == 0 ? chunks.add(chunks.grid().cell_at_element(offsets), child, stored, mask)
                             : read_btree1(file, child, level, chunks));
  }
  return {};
}

// Section VII.C: the chunks lie one after another in order of their indexes.
Result<void> read_implicit(File& file, uint64_t address, ChunkList& chunks) {
  const ChunkGrid& grid = chunks.grid();
  if (grid.cells() > file.source().size() / chunks.chunk_bytes())
    return file.corrupt("more chunks than the file can hold", address);
  for (uint64_t cell = 0; cell < grid.cells(); ++cell) {
    const auto index = grid.index_of_cell(cell);
    uint64_t at = 0;
    if (!index || __builtin_mul_overflow(*index, chunks.chunk_bytes(), &at) || at > file.source().size())
      return file.corrupt("a chunk outside the file", address);
    FOREBAY_CHECK(chunks.add(cell, address + at, 0));
  }
  return {};
}

// Section III.A.2: records of type 10 (no filters) and 11.
Result<void> read_btree2(File& file, uint64_t address, ChunkList& chunks) {
  constexpr uint8_t kPlain = 10, kFiltered = 11;
  const size_t rank = chunks.grid().rank();
  const uint8_t type = chunks.filtered() ? kFiltered : kPlain;
  Shape scaled(rank);
  return visit_records(file, address, type, type, [&](Cursor record, size_t size) -> Result<void> {
    const size_t fixed = file.offset_size() + 8 * rank + (chunks.filtered() ? 4 : 0);
    if (size < fixed || size - fixed > 8) return file.corrupt("a chunk record of impossible size", address);
    const uint64_t chunk = file.address(record);
    uint64_t stored = 0;
    uint32_t mask = 0;
    if (chunks.filtered()) {
      stored = record.number(size - fixed);
      mask = record.u32();
    }
    for (uint64_t& value : scaled) value = record.u64();
    return chunks.add(chunks.grid().cell_at(scaled), chunk, stored, mask);
  });
}

}  // namespace

Result<std::vector<Chunk>> read_chunks(File& file, const Object& object, const ChunkGrid& grid) {
  constexpr int kAboveAll = 256;
  const Storage& storage = *object.storage;
  if (storage.address == kUndefined) return std::vector<Chunk>{};
  uint64_t chunk_bytes = element_count(storage.chunk);
  if (__builtin_mul_overflow(chunk_bytes, storage.element_size, &chunk_bytes) || chunk_bytes == 0)
    return file.corrupt("a chunk of impossible size", storage.address);
  ChunkList chunks(file, grid, chunk_bytes, !object.filters.empty());
  switch (storage.index) {
    case ChunkIndex::btree1:
      FOREBAY_CHECK(read_btree1(file, storage.address, kAboveAll, chunks));
      break;
    case ChunkIndex::single:
      FOREBAY_CHECK(chunks.add(0, storage.address, storage.size, storage.filter_mask));
      break;
    case ChunkIndex::implicit:
      FOREBAY_CHECK(read_implicit(file, storage.address, chunks));
      break;
    case ChunkIndex::fixed_array:
      FOREBAY_CHECK(read_fixed_array(file, storage.address, chunks));
      break;
    case ChunkIndex::extensible_array:
      FOREBAY_CHECK(read_extensible_array(file, storage.address, chunks));
      break;
    case ChunkIndex::btree2:
      FOREBAY_CHECK(read_btree2(file, storage.address, chunks));
      break;
  }
  return chunks.take();
}

}  // namespace forebay::format::hdf5
