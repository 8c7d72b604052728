#include "mpiio/mpi/collective.h"

#include <algorithm>

#include "mpiio/mpi/exchange.h"

namespace forebay::lock::mpiio {
namespace {

int size_of_group(const File& file) {
  int size = 1;
  PMPI_Comm_size(file.comm, &size);
  return size;
}

// One process rarely fills the file system's bandwidth, and many small windows cost messages.
int aggregators_for(const File& file, int processes) {
  constexpr int kEnough = 16;
  const int wanted = file.settings.load().aggregators;
  return std::clamp(wanted ? wanted : kEnough, 1, processes);
}

// Nothing if this process cannot take part.
std::optional<CollectiveAccess> access_of(File& file, bool writes, const Plan* plan, int64_t begin) {
  if (!plan || !plan->view->native) return std::nullopt;
  const auto data_begin = data_offset(*plan, begin);
  const auto descriptor = file.descriptor();
  if (!data_begin || !descriptor || (writes && !descriptor->readable)) return std::nullopt;
  return CollectiveAccess{
      .fd = descriptor->fd, .view = plan->view->view, .data_begin = *data_begin, .memory = plan->memory};
}

}  // namespace

bool may_exchange(const File& file) {
  // Without locks the aggregators must not write holes back, and that is what makes two phases fast. On a local file
  // system messages cost more than calls.
  return file.locking && !file.local && file.settings.load().collective == Collective::automatic &&
         size_of_group(file) > 1;
}

MpiResult<std::optional<uint64_t>> move_together(File& file, bool writes, const Plan* plan, int64_t begin) {
  const auto own = access_of(file, writes, plan, begin);
  CollectiveAccess access = own.value_or(CollectiveAccess{});
  access.comm = file.comm;
  access.client = file.settings.load().lock == Locking::none ? nullptr : file.client.get();
  access.lock_name = file.path;
  access.aggregators = aggregators_for(file, size_of_group(file));
  FOREBAY_TRY(const std::optional<Extent> range, agree_on_two_phases(access, own.has_value()));
  if (!range) return std::nullopt;
  if (writes) file.wrote = true;
  const auto bytes = writes ? write_in_two_phases(access, *range) : read_in_two_phases(access, *range);
  if (!bytes) return fault_in(bytes.error(), file.path);
  return *bytes;
}

}  // namespace forebay::lock::mpiio
