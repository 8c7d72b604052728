#include "mpiio/memory_stream.h"

#include <algorithm>
#include <cstring>

#include <limits.h>

#include "mpiio/pattern_node.h"

namespace forebay::lock::mpiio {

// Datatypes with absolute addresses are used with a base of null: addresses are computed as numbers.
static std::byte* at(int64_t address) { return reinterpret_cast<std::byte*>(static_cast<uintptr_t>(address)); }

MemoryStream::MemoryStream(const Memory& memory)
    : cursor_(memory.datatype, static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory.base)), 0, memory.size()) {
  const Pattern& datatype = memory.datatype;
  gathers_ = datatype.dense() || (datatype.contiguous() && memory.count <= 1) ||
             datatype.size() / kLargePiece >= datatype.segment_count();
}

uint64_t MemoryStream::gather(uint64_t most, std::vector<iovec>& pieces) {
  pieces.clear();
  uint64_t bytes = 0;
  while (bytes < most && pieces.size() < IOV_MAX) {
    if (run_.count == 0 && !cursor_.next(run_)) break;
    uint64_t length = std::min(run_.length - used_, most - bytes);
    pieces.push_back({at(plus(run_.offset, static_cast<int64_t>(used_))), length});
    bytes += length;
    used_ += length;
    if (used_ < run_.length) break;
    used_ = 0;
    run_.offset = plus(run_.offset, run_.stride);
    --run_.count;
  }
  return bytes;
}

// Calls `copy(address, stride, length, pieces)` for the next `count` bytes.
template <class Copy>
void MemoryStream::each(uint64_t count, Copy copy) {
  while (count > 0) {
    if (run_.count == 0 && !cursor_.next(run_)) return;
    uint64_t whole = used_ == 0 ? std::min(run_.count, count / run_.length) : 0;
    if (whole > 0) {
      copy(at(run_.offset), run_.stride, run_.length, whole);
      count -= whole * run_.length;
    } else {
      uint64_t length = std::min(run_.length - used_, count);
      copy(at(plus(run_.offset, static_cast<int64_t>(used_))), 0, length, uint64_t{1});
      count -= length;
      used_ += length;
      if (used_ < run_.length) return;
      used_ = 0;
      whole = 1;
    }
    run_.offset = plus(run_.offset, times(whole, run_.stride));
    run_.count -= whole;
  }
}

template <size_t kLength>
static void copy_pieces(std::byte* to, int64_t to_stride, const std::byte* from, int64_t from_stride, uint64_t count) {
  for (; count > 0; --count, to += to_stride, from += from_stride) std::memcpy(to, from, kLength);
}

static void copy_pieces(std::byte* to, int64_t to_stride, const std::byte* from, int64_t from_stride, uint64_t length,
                        uint64_t count) {
  switch (length) {
    case 4:
      return copy_pieces<4>(to, to_stride, from, from_stride, count);
    case 8:
      return copy_pieces<8>(to, to_stride, from, from_stride, count);
    case 16:
      return copy_pieces<16>(to, to_stride, from, from_stride, count);
    default:
      for (; count > 0; --count, to += to_stride, from += from_stride) std::memcpy(to, from, length);
  }
}

void MemoryStream::copy_to(std::byte* to, uint64_t count) {
  each(count, [&to](const std::byte* from, int64_t stride, uint64_t length, uint64_t pieces) {
    copy_pieces(to, static_cast<int64_t>(length), from, stride, length, pieces);
    to += length * pieces;
  });
}

void MemoryStream::copy_from(const std::byte* from, uint64_t count) {
  each(count, [&from](std::byte* to, int64_t stride, uint64_t length, uint64_t pieces) {
    copy_pieces(to, stride, from, static_cast<int64_t>(length), length, pieces);
    from += length * pieces;
  });
}

}  // namespace forebay::lock::mpiio
