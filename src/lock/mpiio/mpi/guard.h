// The lock around one access, as the file's settings want it.
#pragma once

#include <optional>

#include "lock/client.h"
#include "lock/mpiio/mpi/file.h"
#include "lock/mpiio/transfer.h"

namespace forebay::lock::mpiio {

// Holds a lock, or none where the file needs none. Stays where it is: the permit points to it.
class Guard {
 public:
  Guard() = default;
  explicit Guard(Lock lock) : lock_(std::move(lock)) {}

  // Keeps the lock for as long as a system call should take.
  Permit permit();

  Result<void> release();

 private:
  Lock lock_;
};

// Whether a write of these data bytes should sieve, which takes a lock of all bytes between the first and the last.
bool sieving_wanted(const File& file, const View& view, uint64_t data_begin, uint64_t data_end);

// Waits for the lock of these data bytes, or of the range that they span if `whole_range`.
Result<Guard> guard_bytes(File& file, const View& view, uint64_t data_begin, uint64_t data_end, bool exclusive,
                          bool whole_range);

// Waits for the lock of the whole file.
Result<Guard> guard_file(File& file, bool exclusive);

}  // namespace forebay::lock::mpiio
