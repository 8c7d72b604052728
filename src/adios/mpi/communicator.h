// The ranks of an MPI communicator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <adios_mpi.h>

#include "io/method/communicator.h"

namespace forebay::adios {

// Collective over `comm`, which is duplicated, and stays the caller's; errors are returned instead of ending the job.
// MPI_COMM_SELF and MPI_COMM_NULL are one process. Without MPI every communicator is.
Result<std::unique_ptr<io::Communicator>> wrap(MPI_Comm comm);

// The same, and with it the sum of what all ranks give as `number`, if that costs nothing more.
struct Wrapped {
  std::unique_ptr<io::Communicator> ranks;
  std::optional<uint64_t> sum;
};
Result<Wrapped> wrap(MPI_Comm comm, uint64_t number);

// Whether it is the communicator of one process by itself, which expects files of its own.
bool is_alone(MPI_Comm comm);

}  // namespace forebay::adios
