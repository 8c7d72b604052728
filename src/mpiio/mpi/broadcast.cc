#include "mpiio/mpi/broadcast.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace forebay::lock::mpiio {

MpiResult<std::string> broadcast(MpiResult<std::string> of_root, MPI_Comm comm, int root) {
  constexpr size_t kMost = 1u << 20;
  std::string text = of_root ? *of_root : of_root.error().text;
  text.resize(std::min(text.size(), kMost));
  int64_t head[] = {of_root ? MPI_SUCCESS : of_root.error().error_class, static_cast<int64_t>(text.size())};
  FOREBAY_CHECK(mpi_checked(PMPI_Bcast(head, 2, MPI_INT64_T, root, comm), "MPI_Bcast"));
  text.resize(static_cast<size_t>(head[1]));
  FOREBAY_CHECK(mpi_checked(PMPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, root, comm), "MPI_Bcast"));
  if (head[0] != MPI_SUCCESS) return mpi_fail(static_cast<int>(head[0]), std::move(text));
  return text;
}

MpiResult<int64_t> broadcast(MpiResult<int64_t> of_root, MPI_Comm comm, int root) {
  MpiResult<std::string> text;
  if (of_root)
    text = std::to_string(*of_root);
  else
    text = std::unexpected(std::move(of_root).error());
  FOREBAY_TRY(const std::string told, broadcast(std::move(text), comm, root));
  return std::strtoll(told.c_str(), nullptr, 10);
}

MpiResult<void> agree(MpiResult<void> own, MPI_Comm comm) {
  // The greatest class among the ranks: any will do, but it has to be the same everywhere.
  int worst = own ? MPI_SUCCESS : own.error().error_class;
  FOREBAY_CHECK(mpi_checked(PMPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce"));
  if (own && worst != MPI_SUCCESS) return mpi_fail(worst, "another process failed in the same collective call");
  return own;
}

}  // namespace forebay::lock::mpiio
