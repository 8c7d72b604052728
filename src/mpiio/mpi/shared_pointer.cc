#include "mpiio/mpi/shared_pointer.h"

#include "mpiio/mpi/broadcast.h"

namespace forebay::lock::mpiio {
namespace {

int64_t base_of(File& file) {
  const std::lock_guard guard(file.mutex);
  return file.shared.base;
}

}  // namespace

MpiResult<int64_t> reserve_shared(File& file, int64_t etypes) {
  auto moved = file.client->fetch_add(file.counter_name(), etypes);
  if (!moved) {
    moved.error().path = file.path;  // instead of the counter's name
    return std::unexpected(Fault(moved.error()));
  }
  return base_of(file) + *moved;
}

MpiResult<int64_t> shared_position(File& file) { return reserve_shared(file, 0); }

MpiResult<int64_t> agreed_shared_position(File& file) {
  FOREBAY_CHECK(mpi_checked(PMPI_Barrier(file.comm), "MPI_Barrier"));
  int rank = 0;
  PMPI_Comm_rank(file.comm, &rank);
  MpiResult<int64_t> position = int64_t{0};
  if (rank == 0) position = shared_position(file);
  return broadcast(std::move(position), file.comm);
}

MpiResult<int64_t> reserve_ordered(File& file, int64_t etypes) {
  int rank = 0, size = 1;
  PMPI_Comm_rank(file.comm, &rank);
  PMPI_Comm_size(file.comm, &size);
  int64_t before = 0;
  FOREBAY_CHECK(mpi_checked(PMPI_Exscan(&etypes, &before, 1, MPI_INT64_T, MPI_SUM, file.comm), "MPI_Exscan"));
  if (rank == 0) before = 0;
  // The last one knows the sum.
  MpiResult<int64_t> begin = int64_t{0};
  if (rank == size - 1) begin = reserve_shared(file, before + etypes);
  FOREBAY_TRY(const int64_t first, broadcast(std::move(begin), file.comm, size - 1));
  return first + before;
}

void set_shared(File& file, int64_t position) {
  const std::lock_guard guard(file.mutex);
  file.shared = {.base = position, .generation = file.shared.generation + 1};
}

bool shared_pointer_used(File& file) {
  const std::lock_guard guard(file.mutex);
  return file.shared.base != 0 || !file.counters.empty();
}

void drop_counters(File& file) {
  int rank = 0;
  PMPI_Barrier(file.comm);
  PMPI_Comm_rank(file.comm, &rank);
  if (rank != 0) return;
  // Best effort: the server forgets what is left when the job has gone.
  const std::lock_guard guard(file.mutex);
  for (const std::string& counter : file.counters) (void)file.client->forget_counter(counter);
}

}  // namespace forebay::lock::mpiio
