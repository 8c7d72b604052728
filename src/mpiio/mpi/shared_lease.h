// The lock that rank 0 takes for all ranks of a collective access (exchange.h).
#pragma once

#include <cstdint>

#include <mpi.h>

#include "base/error.h"
#include "lock/client.h"
#include "mpiio/mpi/exchange.h"

namespace forebay::lock::mpiio {

class SharedLease {
 public:
  explicit SharedLease(const CollectiveAccess& access) : access_(access) {}

  // Collective. Rank 0 locks `range`; all ranks learn whether it could, and the size of the file under the lock. To be
  // followed by renew() before the file is touched.
  Result<void> take(Extent range, Access access);

  // Collective. Rank 0 renews; the other ranks may go on for as long as it says, counted from `entered`: a moment on
  // this rank's clock before something that no rank can finish before all have begun it, such as MPI_Alltoall.
  Result<void> renew(Clock::time_point entered);

  // timeout if the time that renew() gave is over.
  Result<void> before_call() const;

  // Rank 0 unlocks. Before it, all ranks must have stopped to touch the file.
  Result<void> give_back();

  uint64_t file_size() const { return file_size_; }

 private:
  struct Word;
  Result<void> tell(Word& word);

  const CollectiveAccess& access_;
  Lock lock_;  // of rank 0
  Clock::time_point valid_until_ = Clock::time_point::max();
  uint64_t file_size_ = 0;
};

}  // namespace forebay::lock::mpiio
