// Units of work go out to the workers as tasks, and come back as reports.
#include <fmt/format.h>

#include "engine/set/set_files.h"
#include "job/coordinator/coordinator_impl.h"

namespace forebay::job {
namespace {

constexpr uint32_t kMaxLosses = 8;  // a unit that ends so many workers is to blame itself

}  // namespace

UnitId Coordinator::Impl::add_unit(uint64_t set, uint32_t index, int priority, const std::string& home, bool ready) {
  const UnitId id = next_unit++;
  owners[id] = {set, index};
  board.add(id, priority, home, ready);
  return id;
}

void Coordinator::Impl::remove_unit(UnitId id) {
  if (owners.erase(id) == 0) return;
  for (const TaskBoard::Attempt& attempt : board.remove(id)) send(attempt.worker, wire::CancelT{.id = attempt.id});
}

wire::TaskT Coordinator::Impl::task_of(const TaskBoard::Attempt& attempt) {
  UnitOwner& owner = owners.at(attempt.unit);
  if (owner.set == 0) {
    wire::TaskT task = delivery_task(owner.index, *round->chosen);
    task.id = attempt.id;
    return task;
  }
  Set& set = sets.at(owner.set);
  wire::TaskT task = make_task(set.cut.groups[owner.index]);
  task.id = attempt.id;
  task.set = set.name;
  task.directory = set.place.directory;
  // Who makes the first attempt may still be writing when it was given up.
  const auto name_of = [&](uint64_t number) {
    return engine::container_name(owner.index, set.cut.groups.size(), number);
  };
  set.has_others = set.has_others || owner.tried;
  task.container = name_of(std::exchange(owner.tried, true) ? attempt.id : 0);
  if (!set.place.before.empty()) task.set_before = set.place.before + "/" + name_of(0);
  containers[attempt.id] = task.container;
  return task;
}

void Coordinator::Impl::start_tasks() {
  if (over) return;
  for (const TaskBoard::Attempt& attempt : board.start(now)) {
    ++totals.tasks;
    send(attempt.worker, task_of(attempt));
  }
}

void Coordinator::Impl::ended(SessionId worker, wire::TaskDoneT done) {
  const auto unit = board.ended(worker, done.id, !done.failed);
  if (unit) {
    const UnitOwner owner = owners.at(*unit);
    if (owner.set == 0)
      delivered(owner.index, done);
    else if (done.failed)
      pack_failed(sets.at(owner.set), owner.index, done);
    else
      packed(sets.at(owner.set), owner.index, done.id, done);
  }
  containers.erase(done.id);
}

void Coordinator::Impl::unit_lost(UnitId id, const std::string& how) {
  const UnitOwner owner = owners.at(id);
  ++totals.tasks_again;
  const std::string what = fmt::format("the task of container {} {}", owner.index, how);
  if (board.losses(id) < kMaxLosses) {
    warn(fmt::format("{}: it is given to another one", what));
  } else if (owner.set != 0) {
    give_up(owner.set, fmt::format("{}, {} times", what, kMaxLosses));
  } else {
    refuse_restart(ErrorKind::io, fmt::format("{}, {} times", what, kMaxLosses));
  }
}

void Coordinator::Impl::find_stalled() {
  for (const TaskBoard::Attempt& attempt : board.stalled(now)) {
    send(attempt.worker, wire::CancelT{.id = attempt.id});
    if (owners.contains(attempt.unit)) unit_lost(attempt.unit, "makes no progress");
  }
}

}  // namespace forebay::job
