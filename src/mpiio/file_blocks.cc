#include "mpiio/file_blocks.h"

#include <algorithm>

namespace forebay::lock::mpiio {

FileRuns::FileRuns(const View& view, uint64_t data_begin, uint64_t data_end)
    : cursor_(view.filetype, view.displacement, data_begin, data_end) {}

static int64_t end_of(const Segment& segment) { return segment.offset + static_cast<int64_t>(segment.length); }

bool FileRuns::next(uint64_t most, Segment& run) {
  run = ahead_;
  ahead_.length = 0;
  if (run.length == 0 && !cursor_.next(run)) return false;
  Segment more;
  while (run.length < most && cursor_.next(more)) {
    if (more.offset != end_of(run)) {
      ahead_ = more;
      return true;
    }
    run.length += more.length;
  }
  if (run.length > most) {
    ahead_ = {run.offset + static_cast<int64_t>(most), run.length - most};
    run.length = most;
  }
  return true;
}

FileBlocks::FileBlocks(const View& view, uint64_t data_begin, uint64_t data_end, bool joins)
    : runs_(view, data_begin, data_end), joins_(joins) {}

static bool belongs(const Block& block, const Segment& piece) {
  if (block.pieces.back().length > kSmallPiece || piece.length > kSmallPiece) return false;
  if (piece.offset <= block.end() || block.pieces.size() >= kBlockPieces) return false;
  return static_cast<uint64_t>(piece.offset - block.end()) <= kSmallHole &&
         static_cast<uint64_t>(end_of(piece) - block.first()) <= kBlockBytes;
}

bool FileBlocks::next(uint64_t most, Block& block) {
  block.pieces.clear();
  Segment piece = ahead_;
  ahead_.length = 0;
  if (piece.length == 0 && !runs_.next(most, piece)) return false;
  block.pieces.push_back(piece);
  while (joins_ && runs_.next(most, piece)) {
    if (!belongs(block, piece)) {
      ahead_ = piece;
      break;
    }
    block.pieces.push_back(piece);
  }
  return true;
}

}  // namespace forebay::lock::mpiio
