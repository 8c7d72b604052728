// The lock around one access, as the file's settings want it.
#pragma once

#include <optional>

#include "lock/client.h"
#include "mpiio/mpi/file.h"
#include "mpiio/transfer.h"

namespace forebay::lock::mpiio {

// Holds a lock, or none where the file needs none. Stays where it is: the before_call points to it.
class Guard {
 public:
  Guard() = default;
  explicit Guard(Lock lock) : lock_(std::move(lock)) {}

  // Keeps the lock for as long as a system call should take.
  BeforeCall before_call();

  Result<void> release();

 private:
  Lock lock_;
};

// Which bytes an access locks.
enum class LockWidth : uint8_t {
  pieces,  // only the bytes that it is about
  blocks,  // also holes between them: a write with Sieve::holes
};

// Whether a write of these data bytes should sieve.
bool sieving_wanted(const File& file, const View& view, uint64_t data_begin, uint64_t data_end);

// Waits for the lock of these data bytes and of what else is touched: an exclusive one for writes, but for those of
// files that are not atomic and write no holes.
Result<Guard> guard_bytes(File& file, const View& view, uint64_t data_begin, uint64_t data_end, bool writes,
                          LockWidth width);

// Waits for the lock of the whole file.
Result<Guard> guard_file(File& file, bool exclusive);

}  // namespace forebay::lock::mpiio
