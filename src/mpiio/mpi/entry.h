// What the entry points have in common. An entry point is an MPI function's name in the module: it finds the file, does
// what the layer does instead, or calls the MPI library's own function.
#pragma once

#include <mpi.h>

#include "mpiio/mpi/access.h"
#include "mpiio/mpi/file.h"
#include "mpiio/mpi/status.h"

#define FOREBAY_ENTRY extern "C" __attribute__((visibility("default")))

namespace forebay::lock::mpiio {

// The result of a call that gave nothing but success or a fault.
inline int finish(MPI_File handle, const MpiResult<void>& result) {
  return result ? MPI_SUCCESS : raise(handle, result.error());
}

// The file if the layer is to serve this data access. Else the MPI library does; if that moves its shared pointer, it
// is remembered.
std::shared_ptr<File> served(MPI_File handle, Pointer pointer);

int access_blocking(File& file, const Operation& operation, MPI_Status* status);
int access_nonblocking(File& file, const Operation& operation, MPI_Request* request);
int begin_split(File& file, const Operation& operation);
int end_split(File& file, MPI_Status* status);

}  // namespace forebay::lock::mpiio
