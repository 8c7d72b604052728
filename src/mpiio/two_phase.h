// Planning of a collective access in two phases: ranks send their pieces to a few of them, the aggregators, each of
// which reads or writes whole windows of the file. For many small interleaved pieces this is far cheaper than a system
// call each. Pure; mpi/exchange.h does it.
#pragma once

#include <cstdint>

#include "lock/region.h"
#include "mpiio/view.h"

namespace forebay::lock::mpiio {

// What one rank asks for, or all together.
struct Demand {
  uint64_t first = UINT64_MAX;  // the lowest byte of the file, and
  uint64_t end = 0;             // after the highest
  uint64_t bytes = 0;
  uint64_t pieces = 0;  // contiguous in the file
  uint64_t span = 0;    // from first to end; of all together: the sum of these
  bool ordered = true;  // each piece begins where the one before ends, or later
};

// O(pieces).
Demand demand_of(const View& view, uint64_t data_begin, uint64_t data_end);

// Whether two phases pay: pieces are small, ranks interleave, and the bytes are dense enough to be moved in windows.
// The answer depends on the sum over all ranks only, so that all come to the same.
bool exchange_pays(const Demand& all);

// The windows of a range of the file, dealt out in turns: in each round each aggregator has one. Windows lie at
// multiples of their length, so that no stripe of the file system is shared by two of them.
class Rounds {
 public:
  Rounds(Extent range, int aggregators, uint64_t window_bytes);

  uint64_t count() const { return count_; }
  Extent window(int aggregator, uint64_t round) const;  // cut to the range; empty when there is none left

 private:
  Extent range_;
  uint64_t aggregators_, window_bytes_, base_, count_;
};

// The data bytes, among those from `wanted.first` to `wanted.end`, that the view shows within `window`. The view's
// pieces have to be ordered.
Extent data_within(const View& view, Extent wanted, Extent window);

// Which rank is the aggregator with this number: they are spread over the ranks evenly.
inline int rank_of_aggregator(int aggregator, int aggregators, int ranks) {
  return static_cast<int>(int64_t{aggregator} * ranks / aggregators);
}

}  // namespace forebay::lock::mpiio
