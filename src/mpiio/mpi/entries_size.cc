// Sizes, and what is on the disk.
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpiio/mpi/broadcast.h"
#include "mpiio/mpi/entry.h"
#include "mpiio/mpi/guard.h"

using namespace forebay::lock::mpiio;

namespace {

MpiResult<void> truncate(File& file, int fd, MPI_Offset size) {
  if (::ftruncate(fd, size) != 0) return forebay::fail_errno(errno, "ftruncate", file.path);
  return {};
}

MpiResult<void> allocate(File& file, int fd, MPI_Offset size) {
  if (size == 0) return {};
  if (const int why = ::posix_fallocate(fd, 0, size)) return forebay::fail_errno(why, "posix_fallocate", file.path);
  return {};
}

using Resize = MpiResult<void> (*)(File&, int, MPI_Offset);

MpiResult<void> resize_locked(File& file, MPI_Offset size, Resize resize) {
  FOREBAY_TRY(const Descriptor descriptor, file.descriptor());
  FOREBAY_TRY(Guard guard, guard_file(file, true));
  FOREBAY_CHECK(guard.before_call()());
  auto resized = resize(file, descriptor.fd, size);
  auto released = guard.release();
  FOREBAY_CHECK(resized);
  FOREBAY_CHECK(released);
  return {};
}

// Collective. Rank 0 does it, when all are here; nobody else holds a lock of this file's opening then, so that rank 0
// waits for others than these only.
MpiResult<void> resize_file(File& file, MPI_Offset size, Resize resize) {
  int64_t same[] = {size, ~size};
  FOREBAY_CHECK(mpi_checked(PMPI_Allreduce(MPI_IN_PLACE, same, 2, MPI_INT64_T, MPI_MAX, file.comm), "MPI_Allreduce"));
  if (same[0] != ~same[1]) return mpi_fail(MPI_ERR_NOT_SAME, "the processes do not give the same size");
  if (size < 0) return mpi_fail(MPI_ERR_ARG, "the size is negative");
  if ((file.amode & MPI_MODE_RDONLY) != 0) return mpi_fail(MPI_ERR_READ_ONLY, "the file was opened to read only");
  int rank = 0;
  PMPI_Comm_rank(file.comm, &rank);
  MpiResult<int64_t> done = int64_t{0};
  if (rank == 0) {
    if (auto resized = resize_locked(file, size, resize); !resized) done = std::unexpected(resized.error());
  }
  FOREBAY_CHECK(broadcast(std::move(done), file.comm));
  return {};
}

MpiResult<void> flush(File& file) {
  if (!file.wrote.exchange(false)) return {};
  FOREBAY_TRY(const Descriptor descriptor, file.descriptor());
  if (::fsync(descriptor.fd) != 0) return forebay::fail_errno(errno, "fsync", file.path);
  return {};
}

}  // namespace

FOREBAY_ENTRY int MPI_File_set_size(MPI_File fh, MPI_Offset size) {
  const auto file = find_file(fh);
  if (!file || !file->ours) return PMPI_File_set_size(fh, size);
  return finish(fh, resize_file(*file, size, truncate));
}

FOREBAY_ENTRY int MPI_File_preallocate(MPI_File fh, MPI_Offset size) {
  const auto file = find_file(fh);
  if (!file || !file->ours) return PMPI_File_preallocate(fh, size);
  return finish(fh, resize_file(*file, size, allocate));
}

FOREBAY_ENTRY int MPI_File_sync(MPI_File fh) {
  const auto file = find_file(fh);
  if (!file || !file->ours) return PMPI_File_sync(fh);
  const auto flushed = flush(*file);
  const int code = PMPI_File_sync(fh);
  return flushed ? code : raise(fh, flushed.error());
}

// Neither depends on whose the file is: the library asks the system.
FOREBAY_ENTRY int MPI_File_get_size(MPI_File fh, MPI_Offset* size) { return PMPI_File_get_size(fh, size); }

FOREBAY_ENTRY int MPI_File_delete(const char* name, MPI_Info info) { return PMPI_File_delete(name, info); }
