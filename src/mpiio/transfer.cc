#include "mpiio/transfer.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/buffer.h"
#include "mpiio/file_blocks.h"
#include "mpiio/file_calls.h"
#include "mpiio/memory_stream.h"

namespace forebay::lock::mpiio {
namespace {

class Transfer {
 public:
  Transfer(int fd, const Memory& memory, const BeforeCall& before_call)
      : fd_(fd), before_call_(before_call), memory_(memory) {}

  // The most of a run that is moved at once.
  uint64_t most() const { return memory_.gathers() ? kCallBytes : kBlockBytes; }

  Result<void> write_run(const Segment& run);
  Result<void> write_around_holes(const Block& block);

  // Return the bytes of data that were read; fewer than asked if the file ends there.
  Result<uint64_t> read_run(const Segment& run);
  Result<uint64_t> read_with_holes(const Block& block);

 private:
  // A piece of the buffer, which grows to what is needed.
  iovec buffer(uint64_t size);

  int fd_;
  const BeforeCall& before_call_;
  MemoryStream memory_;
  std::vector<iovec> pieces_;
  Buffer buffer_;
};

iovec Transfer::buffer(uint64_t size) {
  if (buffer_.capacity() < size) buffer_ = Buffer(std::min(std::max(size, 2 * buffer_.capacity()), kBlockBytes));
  return {buffer_.data(), size};
}

Result<void> Transfer::write_run(const Segment& run) {
  if (!memory_.gathers()) {
    iovec packed = buffer(run.length);
    memory_.copy_to(buffer_.data(), run.length);
    return write_pieces(fd_, {&packed, 1}, run.offset, before_call_);
  }
  for (uint64_t done = 0; done < run.length;) {
    uint64_t bytes = memory_.gather(run.length - done, pieces_);
    FOREBAY_CHECK(write_pieces(fd_, pieces_, run.offset + static_cast<int64_t>(done), before_call_));
    done += bytes;
  }
  return {};
}

// Reads the whole block and writes it again. Where the file ends inside, holes become zeros, as they would be anyway.
Result<void> Transfer::write_around_holes(const Block& block) {
  iovec whole = buffer(block.span());
  FOREBAY_TRY(uint64_t present, read_pieces(fd_, {&whole, 1}, block.first(), before_call_));
  std::memset(buffer_.data() + present, 0, block.span() - present);
  for (const Segment& piece : block.pieces)
    memory_.copy_to(buffer_.data() + (piece.offset - block.first()), piece.length);
  whole = buffer(block.span());
  return write_pieces(fd_, {&whole, 1}, block.first(), before_call_);
}

Result<uint64_t> Transfer::read_run(const Segment& run) {
  uint64_t done = 0;
  if (!memory_.gathers()) {
    iovec packed = buffer(run.length);
    FOREBAY_TRY(done, read_pieces(fd_, {&packed, 1}, run.offset, before_call_));
    memory_.copy_from(buffer_.data(), done);
    return done;
  }
  while (done < run.length) {
    uint64_t bytes = memory_.gather(run.length - done, pieces_);
    FOREBAY_TRY(uint64_t moved, read_pieces(fd_, pieces_, run.offset + static_cast<int64_t>(done), before_call_));
    done += moved;
    if (moved < bytes) break;
  }
  return done;
}

Result<uint64_t> Transfer::read_with_holes(const Block& block) {
  iovec whole = buffer(block.span());
  FOREBAY_TRY(uint64_t present, read_pieces(fd_, {&whole, 1}, block.first(), before_call_));
  uint64_t done = 0;
  for (const Segment& piece : block.pieces) {
    uint64_t before = static_cast<uint64_t>(piece.offset - block.first());
    uint64_t length = std::min(piece.length, present - std::min(present, before));
    memory_.copy_from(buffer_.data() + before, length);
    done += length;
    if (length < piece.length) break;
  }
  return done;
}

// The end of the data; an error if it cannot be addressed.
Result<uint64_t> end_of_data(const View& view, uint64_t data_begin, const Memory& memory) {
  uint64_t end = 0;
  if (__builtin_mul_overflow(memory.count, memory.datatype.size(), &end) ||
      __builtin_add_overflow(end, data_begin, &end))
    return fail(ErrorKind::limit, "more data than 64 bits can count");
  if (end > data_begin && view.filetype.size() == 0)
    return fail(ErrorKind::invalid_argument, "the file view shows no bytes");
  FOREBAY_CHECK(check_offsets(view.filetype, view.displacement, data_begin, end));
  FOREBAY_CHECK(
      check_offsets(memory.datatype, static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory.base)), 0, memory.size()));
  return end;
}

// Where one piece of memory is to be one piece of the file, which is most of what is accessed in small: the memory, and
// where in the file it lies.
struct OnePiece {
  iovec memory;
  int64_t offset = 0;
};

std::optional<OnePiece> one_piece(const View& view, uint64_t data_begin, const Memory& memory) {
  if (memory.size() == 0 || !view.filetype.dense() ||
      !(memory.count == 1 ? memory.datatype.contiguous() : memory.datatype.dense()))
    return std::nullopt;
  return OnePiece{{static_cast<std::byte*>(memory.base) + memory.datatype.first(), memory.size()},
                  view.displacement + view.filetype.first() + static_cast<int64_t>(data_begin)};
}

}  // namespace

Result<uint64_t> write(int fd, const View& view, uint64_t data_begin, const Memory& memory, Sieve sieve,
                       const BeforeCall& before_call) {
  FOREBAY_TRY(uint64_t data_end, end_of_data(view, data_begin, memory));
  if (memory.size() <= kCallBytes) {
    if (auto piece = one_piece(view, data_begin, memory)) {
      FOREBAY_CHECK(write_pieces(fd, {&piece->memory, 1}, piece->offset, before_call));
      return memory.size();
    }
  }
  Transfer transfer(fd, memory, before_call);
  FileBlocks blocks(view, data_begin, data_end, sieve == Sieve::holes);
  constexpr size_t kFewPieces = 2;  // reading and writing takes as many calls
  // Sieved blocks are those of sieved_region(), which was locked.
  const uint64_t most = sieve == Sieve::holes ? kBlockBytes : transfer.most();
  for (Block block; blocks.next(most, block);) {
    if (block.pieces.size() > kFewPieces) {
      FOREBAY_CHECK(transfer.write_around_holes(block));
      continue;
    }
    for (const Segment& run : block.pieces) FOREBAY_CHECK(transfer.write_run(run));
  }
  return memory.size();
}

Result<uint64_t> read(int fd, const View& view, uint64_t data_begin, const Memory& memory,
                      const BeforeCall& before_call) {
  FOREBAY_TRY(uint64_t data_end, end_of_data(view, data_begin, memory));
  if (memory.size() <= kCallBytes)
    if (auto piece = one_piece(view, data_begin, memory))
      return read_pieces(fd, {&piece->memory, 1}, piece->offset, before_call);
  Transfer transfer(fd, memory, before_call);
  FileBlocks blocks(view, data_begin, data_end, true);
  uint64_t total = 0;
  for (Block block; blocks.next(transfer.most(), block);) {
    uint64_t asked = 0;
    for (const Segment& piece : block.pieces) asked += piece.length;
    FOREBAY_TRY(uint64_t moved,
                block.pieces.size() > 1 ? transfer.read_with_holes(block) : transfer.read_run(block.pieces.front()));
    total += moved;
    if (moved < asked) break;
  }
  return total;
}

}  // namespace forebay::lock::mpiio
