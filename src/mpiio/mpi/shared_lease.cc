#include "mpiio/mpi/shared_lease.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/stat.h>

#include "mpiio/mpi/checked.h"

namespace forebay::lock::mpiio {

// What rank 0 tells the others.
struct SharedLease::Word {
  int32_t failed = 0;
  int32_t kind = 0;  // ErrorKind, if failed
  int64_t remaining_ms = 0;
  uint64_t file_size = 0;
  char text[480] = {};

  // The others know the file.
  void fail_with(const Error& error) {
    failed = 1;
    kind = static_cast<int32_t>(error.kind);
    error.what.copy(text, sizeof text - 1);
  }
};

Result<void> SharedLease::tell(Word& word) {
  FOREBAY_CHECK(checked(PMPI_Bcast(&word, sizeof word, MPI_BYTE, 0, access_.comm), "MPI_Bcast"));
  if (word.failed) return fail(static_cast<ErrorKind>(word.kind), word.text, access_.lock_name);
  return {};
}

Result<void> SharedLease::take(Extent range, Access access) {
  FOREBAY_TRY(const int rank, rank_in(access_.comm));
  Word word;
  if (rank == 0 && access_.client) {
    Region region;
    if (auto added = region.add(range.first, range.end - range.first); !added) {
      word.fail_with(added.error());
    } else if (auto lock = access_.client->lock(access_.lock_name, region, access); !lock) {
      word.fail_with(lock.error());
    } else {
      lock_ = std::move(*lock);
    }
  }
  struct stat file{};
  if (rank == 0 && !word.failed) {
    if (::fstat(access_.fd, &file) != 0) word.fail_with(fail_errno(errno, "fstat", access_.lock_name).error());
    word.file_size = static_cast<uint64_t>(file.st_size);
  }
  FOREBAY_CHECK(tell(word));
  file_size_ = word.file_size;
  return {};
}

Result<void> SharedLease::renew(Clock::time_point entered) {
  if (!access_.client) return {};
  FOREBAY_TRY(const int rank, rank_in(access_.comm));
  Word word;
  if (rank == 0) {
    if (auto kept = lock_.keep(std::chrono::hours(1)); !kept) word.fail_with(kept.error());
    valid_until_ = lock_.valid_until();
    word.remaining_ms = std::chrono::floor<std::chrono::milliseconds>(valid_until_ - Clock::now()).count();
  }
  FOREBAY_CHECK(tell(word));
  if (rank != 0) valid_until_ = entered + std::chrono::milliseconds(word.remaining_ms);
  return {};
}

Result<void> SharedLease::before_call() const {
  if (Clock::now() < valid_until_) return {};
  return fail(ErrorKind::timeout, "the lease of the collective's lock ended before its I/O", access_.lock_name);
}

Result<void> SharedLease::give_back() {
  if (!lock_.held()) return {};
  return lock_.unlock();
}

}  // namespace forebay::lock::mpiio
