#include "job/coordinator/task_board.h"

#include <algorithm>
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
    for (Running& one : state.running) {
      if (one.attempt.unit != id) continue;
      unlist(worker, state);
      if (!std::exchange(one.stalled, true)) cancelled.push_back(one.attempt);
      one.attempt.unit.reset();
    }
  }
  return cancelled;
}

// What hangs for one stream of a worker does so for the others.
void TaskBoard::list(WorkerId id, const Worker& worker) {
  const bool hangs = std::ranges::any_of(worker.running, &Running::stalled);
  if (!hangs && worker.running.size() < worker.streams) free_.emplace(worker.running.size(), id);
}

void TaskBoard::unlist(WorkerId id, const Worker& worker) { free_.erase({worker.running.size(), id}); }

void TaskBoard::worker_joined(WorkerId id, std::string node, uint32_t streams) {
  workers_[id] = {.node = std::move(node), .streams = streams, .running = {}};
  list(id, workers_.at(id));
}

void TaskBoard::set_streams(WorkerId id, uint32_t streams) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  unlist(id, found->second);
  found->second.streams = streams;
  list(id, found->second);
}

TaskBoard::Running* TaskBoard::find(WorkerId id, AttemptId attempt) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return nullptr;
  const auto one = std::ranges::find(found->second.running, attempt, [](const Running& it) { return it.attempt.id; });
  return one == found->second.running.end() ? nullptr : &*one;
}

bool TaskBoard::is_current(const Attempt& attempt) const {
  return attempt.unit && units_.at(*attempt.unit).latest == attempt.id;
}

std::vector<UnitId> TaskBoard::worker_left(WorkerId id) {
  std::vector<UnitId> lost;
  const auto found = workers_.find(id);
  if (found == workers_.end()) return lost;
  unlist(id, found->second);
  const Worker worker = std::move(found->second);
  workers_.erase(found);
  for (const Running& one : worker.running) {
    if (!is_current(one.attempt)) continue;
    Unit& unit = units_.at(*one.attempt.unit);
    unit.latest = 0;
    ++unit.losses;
    wait_again(unit);
    lost.push_back(*one.attempt.unit);
  }
  return lost;
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
  unlist(id, worker);
  const Attempt attempt{next_attempt_++, key.id, id};
  worker.running.push_back({.attempt = attempt, .progress = {.since = now, .last = now}});
  list(id, worker);
  unit.latest = attempt.id;
  out.push_back(attempt);
}

std::vector<TaskBoard::Attempt> TaskBoard::start(Time now, size_t most) {
  wake(now);
  std::vector<Attempt> started;
  while (!waiting_.empty() && !free_.empty()) {  // of a thousand workers no list is made for each message
    const size_t least = free_.begin()->first;
    std::vector<WorkerId> idlest;
    for (auto one = free_.begin(); one != free_.end() && one->first == least; ++one) idlest.push_back(one->second);
    for (const bool only_at_home : {true, false}) {
      for (const WorkerId id : idlest) {
        if (waiting_.empty() || started.size() == most) return started;
        Worker& worker = workers_.at(id);
        if (worker.running.size() > least) continue;
        const auto at = waiting_at_.find(worker.node);
        const Key first = *waiting_.begin();
        if (at != waiting_at_.end() && at->second.begin()->priority == first.priority)
          assign(id, worker, *at->second.begin(), now, started);
        else if (!only_at_home)
          assign(id, worker, first, now, started);
      }
    }
  }
  return started;
}

void TaskBoard::progressed(WorkerId id, AttemptId attempt, uint64_t raw_bytes, uint64_t stored_bytes, uint64_t steps,
                           Time now) {
  Running* const running = find(id, attempt);
  if (running == nullptr) return;
  Progress& progress = running->progress;
  if (progress.raw_bytes == raw_bytes && progress.stored_bytes == stored_bytes && progress.steps == steps) return;
  progress.raw_bytes = raw_bytes;
  progress.stored_bytes = stored_bytes;
  progress.steps = steps;
  progress.last = now;
}

std::optional<UnitId> TaskBoard::ended(WorkerId id, AttemptId attempt, bool good) {
  const Running* const running = find(id, attempt);
  if (running == nullptr) return {};
  const Attempt ended = running->attempt;
  Worker& worker = workers_.at(id);
  unlist(id, worker);
  std::erase_if(worker.running, [attempt](const Running& one) { return one.attempt.id == attempt; });
  list(id, worker);
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
    for (Running& one : worker.running) {
      if (one.stalled || now - one.progress.last < stall_timeout_) continue;
      unlist(id, worker);
      one.stalled = true;
      out.push_back(one.attempt);
      Unit& unit = units_.at(*one.attempt.unit);
      unit.latest = 0;
      ++unit.losses;
      wait_again(unit);
    }
  }
  return out;
}

void TaskBoard::forgive(std::chrono::nanoseconds gap) {
  for (auto& [id, worker] : workers_)
    for (Running& one : worker.running) one.progress.last += gap;
}

std::vector<std::pair<TaskBoard::Attempt, TaskBoard::Progress>> TaskBoard::attempts_of(WorkerId id) const {
  std::vector<std::pair<Attempt, Progress>> out;
  const auto found = workers_.find(id);
  if (found == workers_.end()) return out;
  for (const Running& one : found->second.running) out.emplace_back(one.attempt, one.progress);
  return out;
}

}  // namespace forebay::job
