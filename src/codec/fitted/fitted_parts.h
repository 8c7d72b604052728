// Parameters of the fitted transform for parts of a frame, from those that were fitted to all of it. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/fitted/fitted.h"

namespace forebay::codec {

class FittedParts {
 public:
  // `runs` are those of the blocks of `shape`.
  FittedParts(std::vector<FittedRun> runs, const FrameShape& shape);

  // Of a part that begins at element `begin` of the frame: blocks of it, or a stretch of whole rows or planes of one.
  Bytes of(const FrameShape& part, uint64_t begin) const;

 private:
  struct Start {
    uint64_t element = 0;  // the first of a block
    size_t run = 0;        // index; runs_.size() of blocks that are too small for one
  };

  std::vector<FittedRun> runs_;
  std::vector<Start> starts_;  // of the blocks that have elements
};

}  // namespace forebay::codec
