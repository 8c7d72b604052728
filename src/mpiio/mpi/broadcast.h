// What one rank knows and all should: texts and faults.
#pragma once

#include <cstdint>
#include <string>

#include <mpi.h>

#include "mpiio/mpi/fault.h"

namespace forebay::lock::mpiio {

// Collective: everybody gets what rank `root` has, its text or its fault. io if MPI itself fails.
MpiResult<std::string> broadcast(MpiResult<std::string> of_root, MPI_Comm comm, int root = 0);

MpiResult<int64_t> broadcast(MpiResult<int64_t> of_root, MPI_Comm comm, int root = 0);

// Collective. The fault of this rank if it has one; else a fault if any other has one.
MpiResult<void> agree(MpiResult<void> own, MPI_Comm comm);

}  // namespace forebay::lock::mpiio
