#include "mpiio/sieve.h"

#include <vector>

#include "mpiio/file_blocks.h"

namespace forebay::lock::mpiio {
namespace {

// The first blocks of an access.
struct Sample {
  uint64_t pieces = 0, blocks = 0, data_bytes = 0, span = 0;
};

Sample sample(const View& view, uint64_t data_begin, uint64_t data_end) {
  constexpr uint64_t kEnough = 4096;
  Sample sample;
  FileBlocks blocks(view, data_begin, data_end, true);
  for (Block block; sample.pieces < kEnough && blocks.next(kBlockBytes, block); ++sample.blocks) {
    sample.pieces += block.pieces.size();
    sample.span += block.span();
    for (const Segment& piece : block.pieces) sample.data_bytes += piece.length;
  }
  return sample;
}

}  // namespace

bool sieving_pays(const View& view, uint64_t data_begin, uint64_t data_end, bool local) {
  constexpr uint64_t kManyPieces = 16, kPiecesOfABlock = 8, kSmallMean = 2048;
  if (data_begin >= data_end || view.filetype.size() == 0 || view.filetype.dense()) return false;
  const Sample found = sample(view, data_begin, data_end);
  if (found.pieces < kManyPieces || found.pieces < kPiecesOfABlock * found.blocks) return false;
  if (found.data_bytes / found.pieces > kSmallMean) return false;
  return local || found.span - found.data_bytes <= found.data_bytes / 2;
}

Result<Region> sieved_region(const View& view, uint64_t data_begin, uint64_t data_end) {
  std::vector<Extent> written;
  FileBlocks blocks(view, data_begin, data_end, true);
  for (Block block; blocks.next(kBlockBytes, block);)
    written.push_back({static_cast<uint64_t>(block.first()), static_cast<uint64_t>(block.end())});
  return compressed(written);
}

}  // namespace forebay::lock::mpiio
