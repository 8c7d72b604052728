#include "mpiio/mpi/status.h"

namespace forebay::lock::mpiio {
namespace {

// What the request carries is the number of bytes itself, so that nothing has to be freed.
static_assert(sizeof(void*) == sizeof(uint64_t));

int query(void* state, MPI_Status* status) {
  set_status(status, reinterpret_cast<uint64_t>(state));
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int free_state(void*) { return MPI_SUCCESS; }

int cancel(void*, int) { return MPI_SUCCESS; }  // too late

}  // namespace

void set_status(MPI_Status* status, uint64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  PMPI_Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(bytes));
  PMPI_Status_set_cancelled(status, 0);
}

int complete_request(uint64_t bytes, MPI_Request* request) {
  const int code = PMPI_Grequest_start(query, free_state, cancel, reinterpret_cast<void*>(bytes), request);
  return code == MPI_SUCCESS ? PMPI_Grequest_complete(*request) : code;
}

}  // namespace forebay::lock::mpiio
