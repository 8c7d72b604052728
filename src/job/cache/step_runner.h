// Does the steps of a leader (redundancy/steps.h): while some are computed, what the next ones need is on its way.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "base/error.h"
#include "job/cache/piece_wire.h"
#include "redundancy/steps.h"

namespace forebay::job {

// Where the bytes of steps come from and go to. Used by one thread. Errors are the run's.
class StepIo {
 public:
  virtual ~StepIo() = default;

  // Begins to read `ranges`, all of the member's part or all of its parity file, one after another into `out`, which
  // lives until finish(). finish() waits for all that was begun.
  virtual Result<void> begin(unsigned member, std::span<const redundancy::Geometry::Range> ranges,
                             std::span<std::byte> out) = 0;
  virtual Result<void> finish() = 0;

  // What was read of `end`, with its checksum.
  virtual Result<void> seen(const redundancy::Step& step, const redundancy::StepEnd& end, uint64_t sum) = 0;

  // Whether bring() needs no room before the bytes.
  virtual bool is_here(unsigned member) const = 0;
  // Takes the result: end.range.length bytes at `bytes`, before which kPieceRoom bytes may be written unless is_here().
  virtual Result<void> bring(const redundancy::Step& step, const redundancy::StepEnd& end, std::byte* bytes) = 0;
};

// Memory for all buffers of one run, or what one step takes, twice its inputs and its outputs, where that is more
// (groups of more than 60 members).
inline constexpr uint64_t kStepMemory = 32 << 20;
// Pieces of one member that are read at once, at most: 4 MiB.
inline constexpr uint64_t kMostStepsAtOnce = 16;

// `at(i)` for i < count are the steps. cancelled when `stop` is requested.
Result<void> run_steps(uint64_t count, const std::function<redundancy::Step(uint64_t)>& at, StepIo& io,
                       const std::stop_token& stop);

}  // namespace forebay::job
