// An aggregator's side of its connection with the coordinator: tasks in, progress and reports out.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "fabric/hub.h"
#include "job/worker/worker.h"

namespace forebay::job {

// Used by the hub's thread alone.
class WorkerSession {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Log = std::function<void(fabric::Severity, const std::string&)>;

  // The hub outlives it.
  WorkerSession(fabric::Hub& hub, WorkerOptions options, const std::string& host, Log log);
  ~WorkerSession();
  WorkerSession(const WorkerSession&) = delete;
  WorkerSession& operator=(const WorkerSession&) = delete;

  // `id` is the connection with the coordinator of `generation` now.
  void began(fabric::ConnectionId id, uint64_t generation);
  bool is_connection(fabric::ConnectionId id) const { return connection_ == id && id != 0; }
  bool is_connected() const { return connection_ != 0; }
  bool is_welcome() const { return is_welcome_; }  // by the coordinator that it was connected with last
  void ended();                                    // what is under way is of no use any more

  // An error closes the connection.
  Result<void> received(const fabric::Frame& frame);
  bool stopped() const { return stopped_; }  // the coordinator says that the job is over

  // Pings, and closes a connection with a silent coordinator.
  void tick(Time now);
  Time next_tick() const;

 private:
  struct Gate;
  template <class Table>
  void send(Table body);
  Result<void> welcome(const wire::WelcomeT& welcome);
  void start(wire::TaskT task);
  void cancel(uint64_t id);
  void done(wire::TaskDoneT done);
  bool has_earlier() const;  // tasks of an earlier connection, which are cancelled

  fabric::Hub& hub_;
  const WorkerOptions options_;
  const std::string host_;
  const Log log_;
  fabric::ConnectionId connection_ = 0;  // 0: none
  uint64_t generation_ = 0;
  std::chrono::milliseconds ping_interval_{1'000}, lost_{10'000};
  Time last_heard_{}, next_ping_ = Time::max();
  std::map<uint64_t, fabric::ConnectionId> tasks_;  // under way, and the connections that they came from
  std::deque<wire::TaskT> waiting_;                 // until the tasks of an earlier connection have ended
  uint32_t streams_;                                // that pay
  bool is_welcome_ = false, stopped_ = false;
  std::shared_ptr<Gate> gate_;
  std::unique_ptr<Worker> worker_;  // last: its thread ends first
};

}  // namespace forebay::job
