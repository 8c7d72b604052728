// File pointers. Of a file that is the library's, they are the library's.
#include <cerrno>

#include <sys/stat.h>

#include "mpiio/mpi/broadcast.h"
#include "mpiio/mpi/entry.h"
#include "mpiio/mpi/shared_pointer.h"

using namespace forebay::lock::mpiio;

namespace {

std::shared_ptr<File> ours(MPI_File handle) {
  auto file = find_file(handle);
  return file && file->ours ? file : nullptr;
}

MpiResult<void> check_not_sequential(const File& file) {
  if (!file.sequential()) return {};
  return mpi_fail(MPI_ERR_UNSUPPORTED_OPERATION, "a sequential file has no pointer that can be seen or set");
}

// In etypes of the view; one that lies in the file in part counts.
MpiResult<int64_t> end_of_file(File& file) {
  FOREBAY_TRY(const Descriptor descriptor, file.descriptor());
  struct stat status{};
  if (::fstat(descriptor.fd, &status) != 0) return forebay::fail_errno(errno, "fstat", file.path);
  const auto current = file.current_view();
  const uint64_t size = current->view.etype_size;
  if (size == 0) return int64_t{0};
  const uint64_t bytes = data_bytes_before(current->view, static_cast<uint64_t>(status.st_size));
  return static_cast<int64_t>((bytes + size - 1) / size);
}

MpiResult<int64_t> moved(int64_t from, MPI_Offset by) {
  int64_t to = 0;
  if (__builtin_add_overflow(from, by, &to) || to < 0)
    return mpi_fail(MPI_ERR_ARG, "the file pointer would leave the file");
  return to;
}

MpiResult<void> seek(File& file, MPI_Offset offset, int whence) {
  FOREBAY_CHECK(check_not_sequential(file));
  int64_t end = 0;
  if (whence == MPI_SEEK_END) {
    FOREBAY_TRY(end, end_of_file(file));
  }
  const std::lock_guard guard(file.mutex);
  if (whence == MPI_SEEK_SET) {
    FOREBAY_TRY(file.position, moved(0, offset));
  } else if (whence == MPI_SEEK_CUR) {
    FOREBAY_TRY(file.position, moved(file.position, offset));
  } else if (whence == MPI_SEEK_END) {
    FOREBAY_TRY(file.position, moved(end, offset));
  } else {
    return mpi_fail(MPI_ERR_ARG, "whence is not MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END");
  }
  return {};
}

// Collective, for SEEK_CUR and SEEK_END: rank 0 finds out where that is.
MpiResult<int64_t> agreed_end_of_file(File& file) {
  FOREBAY_CHECK(mpi_checked(PMPI_Barrier(file.comm), "MPI_Barrier"));
  int rank = 0;
  PMPI_Comm_rank(file.comm, &rank);
  MpiResult<int64_t> end = int64_t{0};
  if (rank == 0) end = end_of_file(file);
  return broadcast(std::move(end), file.comm);
}

// Collective.
MpiResult<void> seek_shared(File& file, MPI_Offset offset, int whence) {
  FOREBAY_CHECK(check_not_sequential(file));
  int64_t same[] = {offset, ~offset, whence, ~whence};
  FOREBAY_CHECK(mpi_checked(PMPI_Allreduce(MPI_IN_PLACE, same, 4, MPI_INT64_T, MPI_MAX, file.comm), "MPI_Allreduce"));
  if (same[0] != ~same[1] || same[2] != ~same[3])
    return mpi_fail(MPI_ERR_NOT_SAME, "the processes do not seek to the same place");
  int64_t from = 0;
  if (whence == MPI_SEEK_CUR) {
    FOREBAY_TRY(from, agreed_shared_position(file));
  } else if (whence == MPI_SEEK_END) {
    FOREBAY_TRY(from, agreed_end_of_file(file));
  } else if (whence != MPI_SEEK_SET) {
    return mpi_fail(MPI_ERR_ARG, "whence is not MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END");
  }
  FOREBAY_TRY(const int64_t to, moved(from, offset));
  set_shared(file, to);
  return {};
}

MpiResult<uint64_t> byte_offset(File& file, MPI_Offset offset) {
  FOREBAY_CHECK(check_not_sequential(file));
  if (offset < 0) return mpi_fail(MPI_ERR_ARG, "the offset is negative");
  const auto current = file.current_view();
  uint64_t data = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(offset), current->view.etype_size, &data))
    return mpi_fail(MPI_ERR_ARG, "the offset is too great");
  FOREBAY_TRY(const uint64_t place, file_offset(current->view, data));
  return place;
}

// Gives a number to the application, or the fault to its error handler.
template <class Number>
int hand_out(MPI_File handle, const MpiResult<Number>& result, MPI_Offset* into) {
  if (!result) return raise(handle, result.error());
  *into = static_cast<MPI_Offset>(*result);
  return MPI_SUCCESS;
}

}  // namespace

FOREBAY_ENTRY int MPI_File_seek(MPI_File fh, MPI_Offset offset, int whence) {
  const auto file = ours(fh);
  return file ? finish(fh, seek(*file, offset, whence)) : PMPI_File_seek(fh, offset, whence);
}

FOREBAY_ENTRY int MPI_File_get_position(MPI_File fh, MPI_Offset* offset) {
  const auto file = ours(fh);
  if (!file) return PMPI_File_get_position(fh, offset);
  if (auto allowed = check_not_sequential(*file); !allowed) return raise(fh, allowed.error());
  const std::lock_guard guard(file->mutex);
  *offset = file->position;
  return MPI_SUCCESS;
}

FOREBAY_ENTRY int MPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
  const auto file = served(fh, Pointer::shared);
  return file ? finish(fh, seek_shared(*file, offset, whence)) : PMPI_File_seek_shared(fh, offset, whence);
}

FOREBAY_ENTRY int MPI_File_get_position_shared(MPI_File fh, MPI_Offset* offset) {
  const auto file = served(fh, Pointer::shared);
  if (!file) return PMPI_File_get_position_shared(fh, offset);
  if (auto allowed = check_not_sequential(*file); !allowed) return raise(fh, allowed.error());
  return hand_out(fh, shared_position(*file), offset);
}

FOREBAY_ENTRY int MPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset* displacement) {
  const auto file = ours(fh);
  return file ? hand_out(fh, byte_offset(*file, offset), displacement)
              : PMPI_File_get_byte_offset(fh, offset, displacement);
}
