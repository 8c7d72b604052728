// Units of work go out to the workers as tasks, and come back as reports.
#include <fmt/format.h>

#include "job/coordinator/coordinator_impl.h"

namespace forebay::job {
namespace {

constexpr uint32_t kMaxLosses = 8;       // a unit that ends so many workers is to blame itself
constexpr size_t kMostTasksAtOnce = 32;  // each copies the names of its files

}  // namespace

void Coordinator::Impl::remove_unit(UnitId unit) {
  for (const TaskBoard::Attempt& attempt : board.remove(unit)) send(attempt.worker, wire::CancelT{.id = attempt.id});
}

void Coordinator::Impl::retry_unit(UnitId unit) {
  ++task_counts.again;
  board.failed(unit, now);
}

wire::TaskT Coordinator::Impl::task_of(const TaskBoard::Attempt& attempt) {
  if (attempt.unit->set != 0) return sets.at(attempt.unit->set).drain.task(attempt.unit->index, attempt.id);
  wire::TaskT task = restarts.task(attempt.unit->index);
  task.id = attempt.id;
  return task;
}

void Coordinator::Impl::start_tasks() {
  if (over) return;
  const auto attempts = board.start(now, kMostTasksAtOnce);
  for (const TaskBoard::Attempt& attempt : attempts) {
    ++task_counts.tasks;
    send(attempt.worker, task_of(attempt));
  }
  has_more_tasks = attempts.size() == kMostTasksAtOnce;
}

void Coordinator::Impl::ended(SessionId worker, const wire::TaskDoneT& done) {
  const auto unit = board.ended(worker, done.id, !done.failed);
  if (!unit) return;
  if (unit->set == 0)
    apply(with_stages_observed().delivered(unit->index, done, now));
  else
    apply(unit->set, sets.at(unit->set).drain.task_ended(unit->index, done.id, done, now));
}

void Coordinator::Impl::unit_lost(UnitId unit, const std::string& how) {
  ++task_counts.again;
  const std::string what = fmt::format("the task of container {} {}", unit.index, how);
  if (board.losses(unit) < kMaxLosses) {
    warn(fmt::format("{}: it is given to another one", what));
  } else if (unit.set != 0) {
    give_up(unit.set, fmt::format("{}, {} times", what, kMaxLosses));
  } else {
    apply(with_stages_observed().refuse(ErrorKind::io, fmt::format("{}, {} times", what, kMaxLosses), now));
  }
}

void Coordinator::Impl::find_stalled() {
  for (const TaskBoard::Attempt& attempt : board.stalled(now)) {
    send(attempt.worker, wire::CancelT{.id = attempt.id});
    if (board.contains(*attempt.unit)) unit_lost(*attempt.unit, "makes no progress");
  }
}

}  // namespace forebay::job
