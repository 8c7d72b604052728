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

// Reads all that `plan` has, whose first step is steps()[first_step] of the run, and calls `take` for each piece, in
// the order of Pieces: while it takes the pieces of one batch, the next is read. Two batches have at most 2 *
// `batch_bytes` together, but one piece each. Errors of reading (a part that is damaged ends it: corrupt, naming array,
// step, rank and frame) and of `take`.
Result<Pumped> pump(const view::Run& run, uint64_t first_step, const Plan& plan, uint64_t batch_bytes,
                    const Take& take);

}  // namespace forebay::convert
