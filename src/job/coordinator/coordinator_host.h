// A coordinator at work: between the connections of a hub, the store's thread and that of the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fabric/hub.h"
#include "job/coordinator/coordinator.h"
#include "job/coordinator/store_worker.h"
#include "job/decisions/log_writer.h"

namespace forebay::job {

// Used by the hub's thread alone.
class CoordinatorHost {
 public:
  using Log = std::function<void(fabric::Severity, const std::string&)>;

  // The hub outlives it. `start`: of this generation. After the destructor nothing of it is called any more.
  CoordinatorHost(fabric::Hub& hub, const CoordinatorOptions& options, const std::string& store, uint64_t generation,
                  DecisionLog::Start start, Log log);
  ~CoordinatorHost();
  CoordinatorHost(const CoordinatorHost&) = delete;
  CoordinatorHost& operator=(const CoordinatorHost&) = delete;

  // As fabric::HubHandler has them.
  void connected(fabric::ConnectionId id, const std::string& peer);
  Result<void> received(fabric::ConnectionId id, const fabric::Frame& frame);
  void disconnected(fabric::ConnectionId id);
  void tick(std::chrono::steady_clock::time_point now);
  std::chrono::steady_clock::time_point next_tick() const;

  bool stopped() const;        // the job is over
  bool is_left_alone() const;  // as Coordinator has it
  bool is_needed() const;      // as Coordinator has it
  // Why another aggregator had better be the coordinator; it is there.
  const std::optional<std::string>& wants_to_step_down() const { return step_down_; }

  // What still may wait for the file system: to be destroyed where that may take its time. Nothing else is to be called
  // after it.
  struct Threads {
    std::unique_ptr<StoreWorker> store;
    std::unique_ptr<LogWriter> decisions;
  };
  Threads release_threads();

 private:
  struct Gate;
  LogWriter::Callbacks log_callbacks();
  void flush();

  fabric::Hub& hub_;
  Log log_;
  Coordinator coordinator_;
  std::shared_ptr<Gate> gate_;  // to this, for what the threads post
  Threads threads_;
  std::optional<std::string> step_down_;
};

}  // namespace forebay::job
