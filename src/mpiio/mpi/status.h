// How results reach the application: statuses, and requests that are complete from the beginning.
#pragma once

#include <cstdint>

#include <mpi.h>

namespace forebay::lock::mpiio {

// MPI_Get_count and MPI_Get_elements then tell what these bytes are in any datatype.
void set_status(MPI_Status* status, uint64_t bytes);

// A generalized request whose operation is done. Returns an MPI error code.
int complete_request(uint64_t bytes, MPI_Request* request);

}  // namespace forebay::lock::mpiio
