#include "mpiio/mpi/entry.h"

namespace forebay::lock::mpiio {

std::shared_ptr<File> served(MPI_File handle, Pointer pointer) {
  std::shared_ptr<File> file = find_file(handle);
  if (!file || file->ours) return file;
  if (pointer == Pointer::shared || pointer == Pointer::ordered) file->library_shared = true;
  return nullptr;
}

int access_blocking(File& file, const Operation& operation, MPI_Status* status) {
  const MpiResult<uint64_t> bytes = perform(file, operation);
  if (!bytes) return raise(file.handle, bytes.error());
  set_status(status, *bytes);
  return MPI_SUCCESS;
}

int access_nonblocking(File& file, const Operation& operation, MPI_Request* request) {
  const MpiResult<uint64_t> bytes = perform(file, operation);
  if (!bytes) {
    *request = MPI_REQUEST_NULL;
    return raise(file.handle, bytes.error());
  }
  return finish(file.handle, mpi_checked(complete_request(*bytes, request), "MPI_Grequest_start"));
}

int begin_split(File& file, const Operation& operation) {
  {
    const std::lock_guard guard(file.mutex);
    if (file.split) return raise(file.handle, {MPI_ERR_IO, "a split collective has begun and not ended"});
  }
  const MpiResult<uint64_t> bytes = perform(file, operation);
  if (!bytes) return raise(file.handle, bytes.error());
  const std::lock_guard guard(file.mutex);
  file.split = *bytes;
  return MPI_SUCCESS;
}

int end_split(File& file, MPI_Status* status) {
  std::optional<uint64_t> bytes;
  {
    const std::lock_guard guard(file.mutex);
    bytes.swap(file.split);
  }
  if (!bytes) return raise(file.handle, {MPI_ERR_IO, "no split collective has begun"});
  set_status(status, *bytes);
  return MPI_SUCCESS;
}

}  // namespace forebay::lock::mpiio
