// The ranks of an MPI communicator.
#pragma once

#include <memory>

#include <adios_mpi.h>

#include "io/method/communicator.h"

namespace forebay::adios {

// Collective over `comm`, which is duplicated, and stays the caller's; errors are returned instead of ending the job.
// MPI_COMM_SELF and MPI_COMM_NULL are one process. Without MPI every communicator is.
Result<std::unique_ptr<io::Communicator>> wrap(MPI_Comm comm);

// Whether it is the communicator of one process by itself, which expects files of its own.
bool is_alone(MPI_Comm comm);

}  // namespace forebay::adios
