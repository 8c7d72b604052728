// A collective access in two phases, under one lock.
//
// 1. The ranks sum up what they ask for (MPI_Allreduce) and come to the same decision.
// 2. Rank 0 locks the range from the first to the last byte of all of them: only now, when all ranks are here and none
// of
//    them waits for a lock, so that the holder never waits for somebody who waits for it.
// 3. In rounds, ranks send their pieces to the aggregators, or get them from there; an aggregator accesses one window
// of
//    the file a round. Each round rank 0 renews its lease and tells how long it holds; the others count that time from
//    before the round began, and so stop no later than rank 0 would have to.
// 4. When all are done, rank 0 unlocks.
// Pieces that overlap are written in the order of ranks in every window: the outcome is that of the ranks writing one
// after another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <mpi.h>

#include "base/error.h"
#include "lock/client.h"
#include "mpiio/transfer.h"
#include "mpiio/view.h"

namespace forebay::lock::mpiio {

struct CollectiveAccess {
  MPI_Comm comm = MPI_COMM_NULL;  // of all ranks that opened the file
  int fd = -1;                    // for writes it has to be readable, too
  View view;
  uint64_t data_begin = 0;
  Memory memory;
  Client* client = nullptr;  // null: no lock is taken
  std::string lock_name;
  int aggregators = 1;  // at most the number of ranks
};

// Collective. The range of all accesses together if they should be made in two phases; nothing, on all ranks, if one
// says that it cannot, or where it would not pay. io if MPI fails.
Result<std::optional<Extent>> agree_on_two_phases(const CollectiveAccess& access, bool possible);

// Collective, after all have agreed on `range`. Both return how many bytes of this rank were moved; on an error of any
// rank every rank returns one.
Result<uint64_t> write_in_two_phases(const CollectiveAccess& access, Extent range);
Result<uint64_t> read_in_two_phases(const CollectiveAccess& access, Extent range);

}  // namespace forebay::lock::mpiio
