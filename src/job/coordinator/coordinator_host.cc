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
                                 uint64_t generation, DecisionLog::Start start, Log log)
    : hub_(hub),
      log_(std::move(log)),
      coordinator_(options, generation, now(), std::move(start.facts)),
      gate_(std::make_shared<Gate>(this)),
      threads_{.store = std::make_unique<StoreWorker>(store,
                                                      [&hub, gate = gate_](StoreAnswer answer) {
                                                        hub.post([gate, answer = std::move(answer)]() mutable {
                                                          if (gate->host == nullptr) return;
                                                          gate->host->coordinator_.answered(std::move(answer), now());
                                                          gate->host->flush();
                                                        });
                                                      }),
               .decisions = std::make_unique<LogWriter>(std::move(start.log), log_callbacks())} {
  for (const std::string& warning : start.warnings) log_(fabric::Severity::warning, warning);
}

LogWriter::Callbacks CoordinatorHost::log_callbacks() {
  const auto post = [&hub = hub_, gate = gate_](auto what) {
    hub.post([gate, what = std::move(what)] {
      if (gate->host != nullptr) what(*gate->host);
    });
  };
  return {.written =
              [post](uint64_t decisions) {
                post([decisions](CoordinatorHost& host) {
                  host.coordinator_.logged(decisions, now());
                  host.flush();
                });
              },
          .failed =
              [post](const Error& error) {
                post([error](CoordinatorHost& host) {
                  host.coordinator_.log_failed(error, now());
                  host.flush();
                });
              },
          .replaced =
              [post] {
                post([](CoordinatorHost& host) { host.step_down_ = "another one has closed its log of decisions"; });
              }};
}

CoordinatorHost::~CoordinatorHost() { gate_->host = nullptr; }

CoordinatorHost::Threads CoordinatorHost::release_threads() {
  gate_->host = nullptr;
  return std::move(threads_);
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

bool CoordinatorHost::is_left_alone() const { return coordinator_.is_left_alone(); }

bool CoordinatorHost::is_needed() const { return coordinator_.is_needed(); }

void CoordinatorHost::flush() {
  CoordinatorOutput out = coordinator_.take_output();
  if (!out.decisions.empty()) threads_.decisions->add(std::move(out.decisions));
  Bytes bytes;
  for (const auto& [to, message, at_once] : out.messages) {
    bytes.clear();
    wire::encode(bytes, message);
    coordinator_.count_sent(message.body.type, bytes.size());
    hub_.send(to, bytes);
  }
  for (const fabric::ConnectionId id : out.closed) hub_.close(id);
  for (StoreCommand& command : out.commands) threads_.store->submit(std::move(command));
  if (out.step_down) step_down_ = std::move(out.step_down);
  for (const LogLine& line : out.log) log_(line.severity, line.text);
}

}  // namespace forebay::job
