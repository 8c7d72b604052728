// Which worker does what: units of work that wait, the workers with their streams, and the attempts that join them. It
// knows nothing of sets or restarts but their numbers. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "fabric/hub.h"
#include "job/coordinator/retry.h"

namespace forebay::job {

using WorkerId = fabric::ConnectionId;
using AttemptId = uint64_t;

// What a unit of work is about: `index` is of the rank group of a set, or of the delivery.
struct UnitId {
  uint64_t set = 0;  // 0: the restart
  uint32_t index = 0;
  auto operator<=>(const UnitId&) const = default;
};

class TaskBoard {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Progress {
    uint64_t raw_bytes = 0, stored_bytes = 0, steps = 0;
    Time since{}, last{};  // of the attempt, and of what moved last
  };
  struct Attempt {
    AttemptId id = 0;
    std::optional<UnitId> unit{};  // none: that was removed
    WorkerId worker = 0;
  };

  explicit TaskBoard(std::chrono::milliseconds stall_timeout) : stall_timeout_(stall_timeout) {}

  // Units of a lower `priority` number come first, then those of a lower id. `home`: the node that they had best be
  // done on. A unit that is not ready waits until it is.
  void add(UnitId id, int priority, std::string home, bool ready);
  void set_ready(UnitId id, bool ready);

  // Forgets the unit, which may be added again. What is returned is to be cancelled: its workers are busy until they
  // say so, and what comes of it does not matter.
  std::vector<Attempt> remove(UnitId id);

  // It does as many units at a time as it has streams, and begins none while it has one to cancel.
  void worker_joined(WorkerId id, std::string node, uint32_t streams);
  // Another number from now on: what is under way goes on.
  void set_streams(WorkerId id, uint32_t streams);
  // What it was doing, of which it was the latest attempt: these units wait again.
  std::vector<UnitId> worker_left(WorkerId id);

  // Gives at most `most` units to the workers that do the fewest: of equals to those on their home nodes first. Each
  // unit has one attempt at a time that is not stalled.
  std::vector<Attempt> start(Time now, size_t most = std::numeric_limits<size_t>::max());

  void progressed(WorkerId worker, AttemptId attempt, uint64_t raw_bytes, uint64_t stored_bytes, uint64_t steps,
                  Time now);

  // The worker has a free stream again. The unit, if it is still there and the outcome matters to it: that of its
  // latest attempt, and success of any. It then waits for remove() or failed(); nothing if the worker has no such
  // attempt.
  std::optional<UnitId> ended(WorkerId worker, AttemptId attempt, bool good);

  // The unit is to be tried again, after a pause that grows.
  const Retry& failed(UnitId id, Time now);
  bool contains(UnitId id) const { return units_.contains(id); }
  uint32_t losses(UnitId id) const;  // attempts that ended with their worker, or stalled

  // Attempts that have made no progress for too long: each is told once, to be cancelled, and its unit waits again.
  std::vector<Attempt> stalled(Time now);

  // Time in which nobody could be heard does not count.
  void forgive(std::chrono::nanoseconds gap);

  // For the status, in the order in which they began.
  std::vector<std::pair<Attempt, Progress>> attempts_of(WorkerId worker) const;
  size_t workers() const { return workers_.size(); }

 private:
  struct Key {
    int priority = 0;
    UnitId id;
    auto operator<=>(const Key&) const = default;
  };
  struct Unit {
    Key key;
    std::string home;
    bool ready = false;
    AttemptId latest = 0;  // that runs and is not stalled; 0: none
    Retry retry;
    uint32_t losses = 0;
  };
  struct Running {
    Attempt attempt;
    bool stalled = false;
    Progress progress;
  };
  struct Worker {
    std::string node;
    uint32_t streams = 1;
    std::vector<Running> running;  // in the order in which they began
  };
  using Workers = std::map<WorkerId, Worker>;

  void wait_again(Unit& unit);
  void unlist(const Unit& unit);
  void wake(Time now);
  void list(WorkerId id, const Worker& worker);    // among those that are free, if it is
  void unlist(WorkerId id, const Worker& worker);  // before its streams or attempts change
  void assign(WorkerId id, Worker& worker, Key key, Time now, std::vector<Attempt>& out);
  bool is_current(const Attempt& attempt) const;
  Running* find(WorkerId worker, AttemptId attempt);

  std::chrono::milliseconds stall_timeout_;
  AttemptId next_attempt_ = 1;
  std::map<UnitId, Unit> units_;
  Workers workers_;
  std::set<std::pair<size_t, WorkerId>> free_;                 // workers with a free stream, by what they do
  std::set<Key> waiting_;                                      // ready, and not paused
  std::unordered_map<std::string, std::set<Key>> waiting_at_;  // the same by home
  std::set<std::pair<Time, UnitId>> paused_;                   // ready, but not before
};

}  // namespace forebay::job
