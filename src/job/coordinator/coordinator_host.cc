#include "job/coordinator/coordinator_host.h"

#include <utility>

namespace forebay::job {
namespace {

std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

}  // namespace

// Used by the hub's thread; others only hold it.
struct CoordinatorHost::Gate {
  CoordinatorHost* host = nullptr;
};

CoordinatorHost::CoordinatorHost(fabric::Hub& hub, const CoordinatorOptions& options, const std::string& store,
                                 uint64_t generation, Log log)
    : hub_(hub),
      log_(std::move(log)),
      coordinator_(options, generation, now()),
      gate_(std::make_shared<Gate>(this)),
      store_(std::make_unique<StoreWorker>(store, [&hub, gate = gate_](StoreAnswer answer) {
        hub.post([gate, answer = std::move(answer)]() mutable {
          if (gate->host == nullptr) return;
          gate->host->coordinator_.answered(std::move(answer), now());
          gate->host->flush();
        });
      })) {}

CoordinatorHost::~CoordinatorHost() { gate_->host = nullptr; }

std::unique_ptr<StoreWorker> CoordinatorHost::release_store() {
  gate_->host = nullptr;
  return std::move(store_);
}

void CoordinatorHost::connected(fabric::ConnectionId id, const std::string& peer) {
  coordinator_.connected(id, peer, now());
}

Result<void> CoordinatorHost::received(fabric::ConnectionId id, const fabric::Frame& frame) {
  FOREBAY_TRY(wire::MessageT message, wire::decode(frame));
  coordinator_.count_received(message.body.type, fabric::kFrameHeaderBytes + frame.body.size());
  const auto result = coordinator_.received(id, std::move(message), now());
  flush();
  return result;
}

void CoordinatorHost::disconnected(fabric::ConnectionId id) {
  coordinator_.disconnected(id, now());
  flush();
}

void CoordinatorHost::tick(std::chrono::steady_clock::time_point time) {
  if (time < coordinator_.next_tick()) return;
  coordinator_.tick(time);
  flush();
}

std::chrono::steady_clock::time_point CoordinatorHost::next_tick() const { return coordinator_.next_tick(); }

bool CoordinatorHost::stopped() const { return coordinator_.stopped(); }

bool CoordinatorHost::is_needed() const { return coordinator_.is_needed(); }

void CoordinatorHost::flush() {
  CoordinatorOutput out = coordinator_.take_output();
  Bytes bytes;
  for (const auto& [to, message] : out.messages) {
    bytes.clear();
    wire::encode(bytes, message);
    coordinator_.count_sent(message.body.type, bytes.size());
    hub_.send(to, bytes);
  }
  for (const fabric::ConnectionId id : out.closed) hub_.close(id);
  for (StoreCommand& command : out.commands) store_->submit(std::move(command));
  if (out.step_down) step_down_ = std::move(out.step_down);
  for (const LogLine& line : out.log) log_(line.severity, line.text);
}

}  // namespace forebay::job
