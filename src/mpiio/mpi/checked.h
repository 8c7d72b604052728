// MPI's error codes as Results, for the layer's own calls.
#pragma once

#include <string>

#include <mpi.h>

#include "base/error.h"

namespace forebay::lock::mpiio {

inline Result<void> checked(int code, const char* call) {
  if (code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  return fail(ErrorKind::io, std::string(call) + ": " + text);
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
