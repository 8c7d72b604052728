// A plan's datasets as pieces to read. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "convert/plan/plan.h"

namespace forebay::convert {

struct WantedPiece {
  size_t dataset = 0;
  Box box;  // in the dataset
  Source source;
  view::Selection selection;  // of the source's array: as many elements as the box
};

// In the order in which sinks get them: step by step, in it dataset by dataset, in it in C order.
class Pieces {
 public:
  // Each piece is one chunk, or of a dataset without chunks a box of at most `most_bytes`.
  Pieces(const Plan& plan, uint64_t most_bytes) : plan_(plan), most_bytes_(most_bytes) {}

  // The next one, until there are no more.
  std::optional<WantedPiece> next();

 private:
  bool go_to_next_part();
  std::optional<Box> next_box();

  const Plan& plan_;
  const uint64_t most_bytes_;
  uint64_t step_ = 0, block_ = 0;
  size_t dataset_ = 0;  // of which the current part is
  bool begun_ = false, in_part_ = false;
  size_t source_ = 0;                   // of the dataset
  Shape part_;                          // the shape of one block, or of the array, in one step
  std::optional<engine::Slabs> slabs_;  // of a part without chunks
  Shape at_;                            // of one with chunks: where the next one begins
  bool done_ = false;                   // with the part's chunks
};

}  // namespace forebay::convert
