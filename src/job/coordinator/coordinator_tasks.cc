// Units of work go out to the workers as tasks, and come back as reports.
#include <fmt/format.h>

#include "job/coordinator/coordinator_impl.h"

namespace forebay::job {
namespace {

constexpr uint32_t kMaxLosses = 8;       // a unit that ends so many workers is to blame itself
constexpr size_t kMostTasksAtOnce = 32;  // each copies the names of its files

}  // namespace

void Coordinator::Impl::add_unit(UnitOwner owner, int priority, const std::string& home, bool ready) {
  const UnitId id = next_unit++;
  owners[id] = owner;
  units[owner] = id;
  board.add(id, priority, home, ready);
}

void Coordinator::Impl::remove_unit(UnitOwner owner) {
  const auto unit = units.extract(owner);
  if (!unit) return;
  const UnitId id = unit.mapped();
  owners.erase(id);
  for (const TaskBoard::Attempt& attempt : board.remove(id)) send(attempt.worker, wire::CancelT{.id = attempt.id});
}

void Coordinator::Impl::retry_unit(UnitOwner owner) {
  ++task_counts.again;
  board.failed(units.at(owner), now);
}

wire::TaskT Coordinator::Impl::task_of(const TaskBoard::Attempt& attempt) {
  const UnitOwner& owner = owners.at(attempt.unit);
  if (owner.set != 0) return sets.at(owner.set).task(owner.index, attempt.id);
  wire::TaskT task = restarts.task(owner.index);
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
  const UnitOwner owner = owners.at(*unit);
  if (owner.set == 0)
    apply(with_stages_observed().delivered(owner.index, done, now));
  else
    apply(owner.set, sets.at(owner.set).task_ended(owner.index, done.id, done, now));
}

void Coordinator::Impl::unit_lost(UnitId id, const std::string& how) {
  const UnitOwner owner = owners.at(id);
  ++task_counts.again;
  const std::string what = fmt::format("the task of container {} {}", owner.index, how);
  if (board.losses(id) < kMaxLosses) {
    warn(fmt::format("{}: it is given to another one", what));
  } else if (owner.set != 0) {
    give_up(owner.set, fmt::format("{}, {} times", what, kMaxLosses));
  } else {
    apply(with_stages_observed().refuse(ErrorKind::io, fmt::format("{}, {} times", what, kMaxLosses), now));
  }
}

void Coordinator::Impl::find_stalled() {
  for (const TaskBoard::Attempt& attempt : board.stalled(now)) {
    send(attempt.worker, wire::CancelT{.id = attempt.id});
    if (owners.contains(attempt.unit)) unit_lost(attempt.unit, "makes no progress");
  }
}

}  // namespace forebay::job
