#include "engine/set/sources.h"

namespace forebay::engine {

Result<void> PieceReader::add(uint32_t file, uint64_t offset, uint64_t length) {
  if (length == 0) return {};
  bytes_ += length;
  if (!pieces_.empty()) {
    SourcePiece& last = pieces_.back();
    if (last.file == file && last.offset + last.length == offset) {
      last.length += length;
      return {};
    }
  }
  pieces_.push_back({file, offset, length});
  if (pieces_.size() < kMaxPiecesPerRead) return {};
  return finish();
}

Result<void> PieceReader::finish() {
  if (pieces_.empty()) return {};
  FOREBAY_CHECK(sources_.read(pieces_, out_.first(bytes_)));
  out_ = out_.subspan(bytes_);
  pieces_.clear();
  bytes_ = 0;
  return {};
}

}  // namespace forebay::engine
