#include "job/worker/transport_pool.h"

#include <utility>

namespace forebay::job {

Result<std::unique_ptr<fabric::Transport>> TransportPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto transport = std::move(free_.back());
      free_.pop_back();
      return transport;
    }
  }
  if (is_here())
    return fabric::node_transport([this](uint64_t) { return Result<std::vector<fabric::ExposedFile>>(here_); });
  FOREBAY_TRY(fabric::Link link, access_.connect(peer_));
  return make(std::move(link));
}

void TransportPool::give_back(std::unique_ptr<fabric::Transport> transport) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(transport));
}

Result<void> TransportPool::add(fabric::Link link) {
  FOREBAY_TRY(auto transport, make(std::move(link)));
  give_back(std::move(transport));
  return {};
}

Result<std::unique_ptr<fabric::Transport>> TransportPool::make(fabric::Link link) const {
  if (access_.fabric == FabricChoice::ucx) return fabric::ucx_transport(std::move(link), access_.patience);
  return fabric::stream_transport(std::move(link), access_.patience);
}

}  // namespace forebay::job
