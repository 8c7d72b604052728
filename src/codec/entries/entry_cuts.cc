#include "codec/entries/entry_cuts.h"

#include <algorithm>

namespace forebay::codec {
namespace {

class Cutter {
 public:
  Cutter(const DataType& type, uint64_t most_bytes) : type_(type), most_(most_bytes), gathered_{0, {type, {}}} {}

  void add(const Block& block) {
    const uint64_t bytes = block.count() * type_.size;
    if (bytes == 0) return;
    if (bytes > most_) {
      close();
      cut(block);
      return;
    }
    if (gathered_bytes_ + bytes > most_) close();
    gathered_.shape.blocks.push_back(block);
    gathered_bytes_ += bytes;
  }

  std::vector<EntryCut> take() && {
    close();
    return std::move(cuts_);
  }

 private:
  void close() {
    if (gathered_bytes_ == 0) return;
    gathered_.begin = at_;
    at_ += gathered_bytes_;
    cuts_.push_back(std::move(gathered_));
    gathered_ = {0, {type_, {}}};
    gathered_bytes_ = 0;
  }

  // Along the slowest axis whose rows (what lies at one index of it and of those before it) are small enough.
  void cut(const Block& block) {
    constexpr unsigned kLastAxis = 3;
    unsigned axis = 0;
    uint64_t row = block.count() * type_.size / block.dims[0], before = 1;
    while (row > most_ && axis < kLastAxis) {
      before *= block.dims[axis++];
      row /= block.dims[axis];
    }
    const uint64_t rows = block.dims[axis], at_once = std::max<uint64_t>(1, most_ / row);
    const uint64_t parts = (rows + at_once - 1) / at_once;
    for (uint64_t i = 0; i < before; ++i)
      for (uint64_t part = 0; part < parts; ++part) {
        Block piece = block;
        for (unsigned outer = 0; outer < axis; ++outer) piece.dims[outer] = 1;
        piece.dims[axis] = first_row(part + 1, rows, parts) - first_row(part, rows, parts);
        cuts_.push_back({at_, {type_, {piece}}});
        at_ += piece.count() * type_.size;
      }
  }

  // floor(part * rows / parts), which does not overflow.
  static uint64_t first_row(uint64_t part, uint64_t rows, uint64_t parts) {
    return rows / parts * part + rows % parts * part / parts;
  }

  const DataType type_;
  const uint64_t most_;
  uint64_t at_ = 0, gathered_bytes_ = 0;
  EntryCut gathered_;
  std::vector<EntryCut> cuts_;
};

}  // namespace

std::vector<EntryCut> cut_entries(const FrameShape& shape, uint64_t most_bytes) {
  Cutter cutter(shape.type, most_bytes);
  for (const Block& block : shape.blocks) cutter.add(block);
  return std::move(cutter).take();
}

}  // namespace forebay::codec
