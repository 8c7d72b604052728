#include "codec/halo/halo_copies.h"

#include <algorithm>

#include <zstd.h>

#include "codec/codec.h"
#include "codec/varint.h"

namespace forebay::codec {
namespace {

constexpr int kCopyListLevel = 9;

std::unexpected<Error> malformed_copies(const char* what) {
  return fail(ErrorKind::corrupt, std::string("malformed halo parameters: ") + what);
}

// The list of copies behind its size: as it is, or as a Zstandard frame if that is smaller.
Bytes pack_list(const Bytes& list) {
  Bytes packed;
  put_varint(packed, list.size());
  const size_t head = packed.size();
  packed.resize(head + ZSTD_compressBound(list.size()));
  const size_t size =
      ZSTD_compress(packed.data() + head, packed.size() - head, list.data(), list.size(), kCopyListLevel);
  const bool smaller = !ZSTD_isError(size) && size < list.size();
  packed.resize(head + (smaller ? size : 0));
  if (!smaller) packed.insert(packed.end(), list.begin(), list.end());
  return packed;
}

Result<Bytes> unpack_list(std::span<const std::byte> packed) {
  const auto size = take_varint(packed);
  if (!size || *size > kMaxListBytes) return malformed_copies("a bad size");
  Bytes list(static_cast<size_t>(*size));
  if (packed.size() == list.size())
    std::ranges::copy(packed, list.begin());
  else if (ZSTD_decompress(list.data(), list.size(), packed.data(), packed.size()) != list.size())
    return malformed_copies("not the Zstandard frame that they should be");
  return list;
}

// Along an axis where both blocks have one cell, there is nothing to say.
bool is_trivial(uint64_t from_dim, uint64_t to_dim) { return from_dim == 1 && to_dim == 1; }

class CopyReader {
 public:
  CopyReader(const CellNumbers& cells, std::span<const std::byte> list) : cells_(cells), list_(list) {}

  bool done() const { return list_.empty(); }

  Result<Copy> next() {
    const auto step = take_varint(list_), back = take_varint(list_);
    if (!step || !back || *step >= cells_.blocks().size() - block_) return malformed_copies("a copy to no block");
    block_ += *step;
    if (*back > block_) return malformed_copies("a copy from no block");
    Copy copy{.from_block = static_cast<uint32_t>(block_ - *back), .to_block = static_cast<uint32_t>(block_)};
    for (size_t axis = 0; axis < kAxes; ++axis)
      if (!take_axis(copy, axis)) return malformed_copies("a box outside its block");
    if (copy.within_block() && !source(copy).common(destination(copy)).empty())
      return malformed_copies("a copy onto itself");
    return copy;
  }

 private:
  bool take_axis(Copy& copy, size_t axis) {
    const uint64_t to_dim = cells_.blocks()[copy.to_block].dims[axis];
    const uint64_t from_dim = cells_.blocks()[copy.from_block].dims[axis];
    uint64_t begin = 0, after = 0, from = 0;
    if (!is_trivial(from_dim, to_dim)) {
      const auto first = take_varint(list_), second = take_varint(list_), third = take_varint(list_);
      if (!first || !second || !third) return false;
      begin = *first, after = *second, from = *third;
    }
    if (begin >= to_dim || after >= to_dim - begin) return false;
    const uint64_t extent = to_dim - begin - after;
    if (extent > from_dim || from > from_dim - extent) return false;
    copy.to[axis] = static_cast<uint32_t>(begin);
    copy.from[axis] = static_cast<uint32_t>(from);
    copy.extent[axis] = static_cast<uint32_t>(extent);
    return true;
  }

  const CellNumbers& cells_;
  std::span<const std::byte> list_;
  uint64_t block_ = 0;
};

}  // namespace

bool Box::empty() const {
  for (size_t axis = 0; axis < kAxes; ++axis)
    if (begin[axis] >= end[axis]) return true;
  return false;
}

Box Box::common(const Box& other) const {
  Box both;
  for (size_t axis = 0; axis < kAxes; ++axis) {
    both.begin[axis] = std::max(begin[axis], other.begin[axis]);
    both.end[axis] = std::min(end[axis], other.end[axis]);
  }
  return both;
}

Coordinates Box::extent() const {
  Coordinates extent;
  for (size_t axis = 0; axis < kAxes; ++axis) extent[axis] = end[axis] - begin[axis];
  return extent;
}

static Box box_at(const Coordinates& begin, const Coordinates& extent) {
  Box box{begin, begin};
  for (size_t axis = 0; axis < kAxes; ++axis) box.end[axis] += extent[axis];
  return box;
}

Box source(const Copy& copy) { return box_at(copy.from, copy.extent); }
Box destination(const Copy& copy) { return box_at(copy.to, copy.extent); }

bool CellNumbers::fit(const FrameShape& shape) {
  return shape.blocks.size() <= kMaxBlocks && shape.element_total() <= UINT32_MAX;
}

CellNumbers::CellNumbers(const FrameShape& shape) : blocks_(shape.blocks) {
  first_.reserve(shape.blocks.size() + 1);
  uint32_t first = 0;
  for (const Block& block : shape.blocks) {
    first_.push_back(first);
    first += static_cast<uint32_t>(block.count());
  }
  first_.push_back(first);
}

Box CellNumbers::whole(size_t block) const {
  Box box;
  if (blocks_[block].count() == 0) return box;
  for (size_t axis = 0; axis < kAxes; ++axis) box.end[axis] = static_cast<uint32_t>(blocks_[block].dims[axis]);
  return box;
}

Bytes encode_copies(const CellNumbers& cells, std::span<const Copy> copies) {
  Bytes list;
  uint32_t block = 0;
  for (const Copy& copy : copies) {
    put_varint(list, copy.to_block - block);
    put_varint(list, copy.to_block - copy.from_block);
    block = copy.to_block;
    for (size_t axis = 0; axis < kAxes; ++axis) {
      const uint64_t to_dim = cells.blocks()[copy.to_block].dims[axis];
      if (is_trivial(cells.blocks()[copy.from_block].dims[axis], to_dim)) continue;
      put_varint(list, copy.to[axis]);
      put_varint(list, to_dim - copy.to[axis] - copy.extent[axis]);
      put_varint(list, copy.from[axis]);
    }
  }
  if (copies.size() > kMaxCopies || list.size() > kMaxListBytes) return {};
  Bytes packed = pack_list(list);
  if (packed.size() > kMaxParameterBytes) packed.clear();
  return packed;
}

Result<std::vector<Copy>> decode_copies(const CellNumbers& cells, std::span<const std::byte> parameters) {
  FOREBAY_TRY(const Bytes list, unpack_list(parameters));
  std::vector<Copy> copies;
  uint64_t budget = kMaxCopiedPerCell * cells.total();
  for (CopyReader reader(cells, list); !reader.done();) {
    FOREBAY_TRY(const Copy copy, reader.next());
    if (copies.size() == kMaxCopies || volume(copy.extent) > budget) return malformed_copies("too many copies");
    budget -= volume(copy.extent);
    copies.push_back(copy);
  }
  return copies;
}

}  // namespace forebay::codec
