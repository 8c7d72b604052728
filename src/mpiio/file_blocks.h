// What of a file each step of a transfer touches. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "mpiio/pattern.h"
#include "mpiio/view.h"

namespace forebay::lock::mpiio {

// The contiguous runs of bytes that a view shows, in the order of the data.
class FileRuns {
 public:
  FileRuns(const View& view, uint64_t data_begin, uint64_t data_end);

  // At most `most` bytes that adjoin in the file, be they of several segments or repetitions. False at the end.
  bool next(uint64_t most, Segment& run);

 private:
  Cursor cursor_;
  Segment ahead_;  // what was read too far; length 0 if nothing
};

// Runs that one call may move with the holes between them.
struct Block {
  std::vector<Segment> pieces;  // in ascending order, without overlaps
  int64_t first() const { return pieces.front().offset; }
  int64_t end() const { return pieces.back().offset + static_cast<int64_t>(pieces.back().length); }
  uint64_t span() const { return static_cast<uint64_t>(end() - first()); }
};

// Holes up to this size, a page, are moved along with the pieces on both sides, if both are small. The system reads
// whole pages anyway.
inline constexpr uint64_t kSmallHole = 4096;
inline constexpr uint64_t kSmallPiece = 16384;

inline constexpr uint64_t kBlockBytes = 4u << 20;  // the most that is copied at once
inline constexpr size_t kBlockPieces = 1u << 14;

class FileBlocks {
 public:
  // With `joins` false each block is one run.
  FileBlocks(const View& view, uint64_t data_begin, uint64_t data_end, bool joins);

  // `most` limits the block's only run, if it has one.
  bool next(uint64_t most, Block& block);

 private:
  FileRuns runs_;
  Segment ahead_;
  bool joins_ = false;
};

}  // namespace forebay::lock::mpiio
