// An access whose arguments have been checked.
#pragma once

#include "mpiio/mpi/access.h"
#include "mpiio/transfer.h"

namespace forebay::lock::mpiio {

struct Plan {
  std::shared_ptr<const FileView> view;
  Memory memory;
  int64_t etypes = 0;
};

// The errors are those of ROMIO for the same mistakes: MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_ARG for a negative offset,
// MPI_ERR_READ_ONLY, MPI_ERR_ACCESS, MPI_ERR_UNSUPPORTED_OPERATION for what a sequential file does not allow,
// MPI_ERR_IO for a part of an etype.
MpiResult<Plan> plan_of(File& file, const Operation& operation);

// The data offset in bytes of an access that begins at this etype; MPI_ERR_ARG if it or the end cannot be told in 63
// bits.
MpiResult<uint64_t> data_offset(const Plan& plan, int64_t etype);

}  // namespace forebay::lock::mpiio
