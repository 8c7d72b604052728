#include "job/worker/road_pool.h"

#include <utility>

namespace forebay::job {

Result<std::unique_ptr<fabric::Road>> RoadPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto road = std::move(free_.back());
      free_.pop_back();
      return road;
    }
  }
  if (is_here()) return fabric::node_road([this](uint64_t) { return Result<std::vector<fabric::ExposedFile>>(here_); });
  FOREBAY_TRY(fabric::Link link, access_.connect(peer_));
  return make(std::move(link));
}

void RoadPool::give_back(std::unique_ptr<fabric::Road> road) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(road));
}

Result<void> RoadPool::add(fabric::Link link) {
  FOREBAY_TRY(auto road, make(std::move(link)));
  give_back(std::move(road));
  return {};
}

Result<std::unique_ptr<fabric::Road>> RoadPool::make(fabric::Link link) const {
  if (access_.fabric == FabricChoice::ucx) return fabric::ucx_road(std::move(link), access_.patience);
  return fabric::stream_road(std::move(link), access_.patience);
}

}  // namespace forebay::job
