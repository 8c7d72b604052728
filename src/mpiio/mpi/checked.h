// MPI's error codes as Results, for the layer's own calls.
#pragma once

#include <mpi.h>

#include "base/error.h"
#include "base/mpi/error_text.h"

namespace forebay::lock::mpiio {

inline Result<void> checked(int code, const char* call) {
  return code == MPI_SUCCESS ? Result<void>() : fail(ErrorKind::io, mpi_error_text(code, call));
}

inline Result<int> rank_in(MPI_Comm comm) {
  int rank = 0;
  FOREBAY_CHECK(checked(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank"));
  return rank;
}

inline Result<int> size_of(MPI_Comm comm) {
  int size = 0;
  FOREBAY_CHECK(checked(PMPI_Comm_size(comm, &size), "MPI_Comm_size"));
  return size;
}

}  // namespace forebay::lock::mpiio
