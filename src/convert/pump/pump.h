// Moves the values of a plan's datasets from a run to whoever writes them.
#pragma once

#include <cstdint>
#include <functional>

#include "convert/plan/plan.h"

namespace forebay::convert {

using Take = std::function<Result<void>(const Piece& piece)>;

struct Pumped {
  uint64_t holes = 0;  // elements that no rank wrote, which are 0
  view::ReadCost cost;
};

struct PumpLimits {
  uint64_t batch_bytes = 0;  // two batches have at most twice as many together, but for one piece each
  unsigned takers = 1;       // threads that call `take` at a time
};

// Reads all that `plan` has of the steps that it names, and calls `take` for each piece, in the order of Pieces where
// there is one taker: while the pieces of one batch are taken, the next is read. Errors of reading (a part that is
// damaged ends it: corrupt, naming array, step, rank and frame) and of `take`.
Result<Pumped> pump(const view::Run& run, const Plan& plan, const PumpLimits& limits, const Take& take);

}  // namespace forebay::convert
