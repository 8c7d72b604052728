#include "job/coordinator/task_board.h"

#include <utility>

namespace forebay::job {

void TaskBoard::add(UnitId id, int priority, std::string home, bool ready) {
  Unit& unit = units_[id];
  unit = {.key = {priority, id}, .home = std::move(home), .ready = ready};
  wait_again(unit);
}

// Lists a unit that has no attempt where start() finds it.
void TaskBoard::wait_again(Unit& unit) {
  if (!unit.ready || unit.latest != 0) return;
  if (unit.retry.failures() > 0) {
    paused_.emplace(unit.retry.next(), unit.key.id);
    return;
  }
  waiting_.insert(unit.key);
  waiting_at_[unit.home].insert(unit.key);
}

void TaskBoard::unlist(const Unit& unit) {
  paused_.erase({unit.retry.next(), unit.key.id});
  waiting_.erase(unit.key);
  const auto at = waiting_at_.find(unit.home);
  if (at == waiting_at_.end()) return;
  at->second.erase(unit.key);
  if (at->second.empty()) waiting_at_.erase(at);
}

void TaskBoard::set_ready(UnitId id, bool ready) {
  const auto found = units_.find(id);
  if (found == units_.end() || found->second.ready == ready) return;
  unlist(found->second);
  found->second.ready = ready;
  wait_again(found->second);
}

std::vector<TaskBoard::Attempt> TaskBoard::remove(UnitId id) {
  std::vector<Attempt> cancelled;
  const auto found = units_.find(id);
  if (found == units_.end()) return cancelled;
  unlist(found->second);
  units_.erase(found);
  for (auto& [worker, state] : workers_) {
    if (state.attempt.unit != id) continue;
    if (!std::exchange(state.stalled, true)) cancelled.push_back(state.attempt);
    state.attempt.unit.reset();
  }
  return cancelled;
}

void TaskBoard::worker_joined(WorkerId id, std::string node) {
  workers_[id] = {.node = std::move(node)};
  idle_.insert(id);
}

bool TaskBoard::is_current(const Attempt& attempt) const {
  return attempt.unit && units_.at(*attempt.unit).latest == attempt.id;
}

std::optional<UnitId> TaskBoard::worker_left(WorkerId id) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return {};
  const Attempt attempt = found->second.attempt;
  workers_.erase(found);
  idle_.erase(id);
  if (!is_current(attempt)) return {};
  Unit& unit = units_.at(*attempt.unit);
  unit.latest = 0;
  ++unit.losses;
  wait_again(unit);
  return attempt.unit;
}

void TaskBoard::wake(Time now) {
  while (!paused_.empty() && paused_.begin()->first <= now) {
    const Unit& unit = units_.at(paused_.begin()->second);
    paused_.erase(paused_.begin());
    waiting_.insert(unit.key);
    waiting_at_[unit.home].insert(unit.key);
  }
}

void TaskBoard::assign(WorkerId id, Worker& worker, Key key, Time now, std::vector<Attempt>& out) {
  Unit& unit = units_.at(key.id);
  unlist(unit);
  worker.attempt = {next_attempt_++, key.id, id};
  worker.stalled = false;
  worker.progress = {.since = now, .last = now};
  unit.latest = worker.attempt.id;
  idle_.erase(id);
  out.push_back(worker.attempt);
}

std::vector<TaskBoard::Attempt> TaskBoard::start(Time now, size_t most) {
  wake(now);
  std::vector<Attempt> started;
  for (const bool only_at_home : {true, false}) {
    if (waiting_.empty()) break;  // of a thousand workers no list is made for each message
    const std::vector<WorkerId> idle(idle_.begin(), idle_.end());
    for (const WorkerId id : idle) {
      if (waiting_.empty() || started.size() == most) return started;
      Worker& worker = workers_.at(id);
      const auto at = waiting_at_.find(worker.node);
      const Key first = *waiting_.begin();
      if (at != waiting_at_.end() && at->second.begin()->priority == first.priority)
        assign(id, worker, *at->second.begin(), now, started);
      else if (!only_at_home)
        assign(id, worker, first, now, started);
    }
  }
  return started;
}

void TaskBoard::progressed(WorkerId id, AttemptId attempt, uint64_t raw_bytes, uint64_t stored_bytes, uint64_t steps,
                           Time now) {
  const auto found = workers_.find(id);
  if (found == workers_.end() || found->second.attempt.id != attempt) return;
  Progress& progress = found->second.progress;
  if (progress.raw_bytes == raw_bytes && progress.stored_bytes == stored_bytes && progress.steps == steps) return;
  progress.raw_bytes = raw_bytes;
  progress.stored_bytes = stored_bytes;
  progress.steps = steps;
  progress.last = now;
}

std::optional<UnitId> TaskBoard::ended(WorkerId id, AttemptId attempt, bool good) {
  const auto found = workers_.find(id);
  if (attempt == 0 || found == workers_.end() || found->second.attempt.id != attempt) return {};
  const Attempt ended = std::exchange(found->second.attempt, {});
  found->second.stalled = false;
  found->second.progress = {};
  idle_.insert(id);
  if (!ended.unit) return {};
  Unit& unit = units_.at(*ended.unit);
  const bool current = unit.latest == attempt;
  if (current) unit.latest = 0;
  if (!current && !good) return {};
  return ended.unit;
}

const Retry& TaskBoard::failed(UnitId id, Time now) {
  Unit& unit = units_.at(id);
  unlist(unit);
  unit.retry.failed(now);
  wait_again(unit);
  return unit.retry;
}

uint32_t TaskBoard::losses(UnitId id) const {
  const auto found = units_.find(id);
  return found == units_.end() ? 0 : found->second.losses;
}

std::vector<TaskBoard::Attempt> TaskBoard::stalled(Time now) {
  std::vector<Attempt> out;
  for (auto& [id, worker] : workers_) {
    if (worker.attempt.id == 0 || worker.stalled || now - worker.progress.last < stall_timeout_) continue;
    worker.stalled = true;
    out.push_back(worker.attempt);
    Unit& unit = units_.at(*worker.attempt.unit);
    unit.latest = 0;
    ++unit.losses;
    wait_again(unit);
  }
  return out;
}

void TaskBoard::forgive(std::chrono::nanoseconds gap) {
  for (auto& [id, worker] : workers_) worker.progress.last += gap;
}

std::optional<TaskBoard::Attempt> TaskBoard::attempt_of(WorkerId worker) const {
  const auto found = workers_.find(worker);
  if (found == workers_.end() || found->second.attempt.id == 0) return {};
  return found->second.attempt;
}

TaskBoard::Progress TaskBoard::progress_of(WorkerId worker) const {
  const auto found = workers_.find(worker);
  return found == workers_.end() ? Progress{} : found->second.progress;
}

}  // namespace forebay::job
