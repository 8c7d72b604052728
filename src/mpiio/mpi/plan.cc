#include "mpiio/mpi/plan.h"

#include <limits>

#include "mpiio/mpi/flatten.h"

namespace forebay::lock::mpiio {
namespace {

constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();

MpiResult<void> check_mode(const File& file, const Operation& operation) {
  if (operation.writes && (file.amode & MPI_MODE_RDONLY) != 0)
    return mpi_fail(MPI_ERR_READ_ONLY, "the file was opened to read only");
  if (!operation.writes && (file.amode & MPI_MODE_WRONLY) != 0)
    return mpi_fail(MPI_ERR_ACCESS, "the file was opened to write only");
  const bool shared = operation.pointer == Pointer::shared || operation.pointer == Pointer::ordered;
  if (file.sequential() && !shared)
    return mpi_fail(MPI_ERR_UNSUPPORTED_OPERATION, "a sequential file is accessed by its shared pointer only");
  return {};
}

}  // namespace

MpiResult<Plan> plan_of(File& file, const Operation& operation) {
  if (operation.count < 0) return mpi_fail(MPI_ERR_COUNT, "the count is negative");
  if (operation.datatype == MPI_DATATYPE_NULL) return mpi_fail(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
  if (operation.pointer == Pointer::given && operation.offset < 0)
    return mpi_fail(MPI_ERR_ARG, "the offset is negative");
  FOREBAY_CHECK(check_mode(file, operation));
  if (!committed(operation.datatype, file.comm)) return mpi_fail(MPI_ERR_TYPE, "the datatype is not committed");
  Plan plan{.view = file.current_view()};
  FOREBAY_TRY(plan.memory.datatype, flatten(operation.datatype));
  plan.memory.base = operation.buffer;
  plan.memory.count = static_cast<uint64_t>(operation.count);
  const uint64_t element = plan.memory.datatype.size(), etype = plan.view->view.etype_size;
  if (element != 0 && plan.memory.count > kMost / element) return mpi_fail(MPI_ERR_COUNT, "there is too much data");
  const uint64_t bytes = plan.memory.size();
  if (bytes == 0) return plan;
  if (etype == 0 || bytes % etype != 0) return mpi_fail(MPI_ERR_IO, "only whole etypes can be accessed");
  plan.etypes = static_cast<int64_t>(bytes / etype);
  return plan;
}

MpiResult<uint64_t> data_offset(const Plan& plan, int64_t etype) {
  const uint64_t size = plan.view->view.etype_size, begin = static_cast<uint64_t>(etype);
  if (etype < 0 || (size != 0 && begin > (kMost - plan.memory.size()) / size))
    return mpi_fail(MPI_ERR_ARG, "the access ends beyond the greatest file offset");
  return begin * size;
}

}  // namespace forebay::lock::mpiio
