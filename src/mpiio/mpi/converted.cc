#include "mpiio/mpi/converted.h"

#include <climits>

#include "mpiio/mpi/guard.h"
#include "mpiio/mpi/quiet.h"

namespace forebay::lock::mpiio {
namespace {

int call_library(MPI_File handle, const Operation& operation, int64_t etype, MPI_Status* status) {
#if MPI_VERSION >= 4
  return operation.writes
             ? PMPI_File_write_at_c(handle, etype, operation.buffer, operation.count, operation.datatype, status)
             : PMPI_File_read_at_c(handle, etype, operation.buffer, operation.count, operation.datatype, status);
#else
  const int count = static_cast<int>(operation.count);
  return operation.writes ? PMPI_File_write_at(handle, etype, operation.buffer, count, operation.datatype, status)
                          : PMPI_File_read_at(handle, etype, operation.buffer, count, operation.datatype, status);
#endif
}

}  // namespace

MpiResult<uint64_t> access_converted(File& file, const Operation& operation, int64_t etype) {
  if (MPI_VERSION < 4 && operation.count > INT_MAX)
    return mpi_fail(MPI_ERR_COUNT, "this MPI library cannot convert so many elements at once");
  FOREBAY_TRY(Guard guard, guard_file(file, operation.writes));
  FOREBAY_CHECK(guard.before_call()());
  const QuietErrors quiet(file.handle);
  MPI_Status status;
  auto done = mpi_checked(call_library(file.handle, operation, etype, &status), "MPI-IO");
  auto released = guard.release();
  FOREBAY_CHECK(done);
  FOREBAY_CHECK(released);
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  return static_cast<uint64_t>(bytes);
}

}  // namespace forebay::lock::mpiio
