#include "engine/set/planned_sizes.h"

#include "merge/plan.h"

namespace forebay::engine {

container::FrameSizes planned_sizes(uint64_t container_bytes) {
  constexpr uint64_t kSpare = 1 << 16, kLeastBytes = 4;
  return [most = kSpare + container_bytes / kLeastBytes](const Catalogue& catalogue,
                                                         const PlanSpec& spec) -> Result<std::vector<uint64_t>> {
    const auto plan = merge::Plan::make(catalogue, spec, most);
    if (!plan && plan.error().kind == ErrorKind::limit)
      return fail(ErrorKind::corrupt, plan.error().what + ", which no container of its size has");
    if (!plan && plan.error().kind == ErrorKind::invalid_argument) return fail(ErrorKind::corrupt, plan.error().what);
    FOREBAY_CHECK(plan);
    std::vector<uint64_t> sizes;
    for (const merge::Frame& frame : plan->frames()) sizes.push_back(frame.raw_bytes);
    return sizes;
  };
}

}  // namespace forebay::engine
