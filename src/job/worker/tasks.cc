#include "job/worker/tasks.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "engine/pack/pack_group.h"
#include "engine/pack/read_layouts.h"
#include "engine/pack/set_before.h"
#include "engine/restore/write_files.h"
#include "job/stage/counted_sources.h"
#include "job/worker/remote_sources.h"
#include "job/worker/routing_target.h"
#include "store/store.h"

namespace forebay::job {
namespace {

// If the group has too many variables: with what --memory it would not.
Error with_memory(Error error, const WorkerOptions& options) {
  const auto times = engine::times_too_many(error);
  if (!times) return error;
  constexpr double kMore = 2;  // of files that are not put together yet, which adds similarity keys
  const uint64_t now = options.resources.resolved().memory_bytes >> 20;
  error.hint = fmt::format("the aggregator has --memory {}M; {}M would do for this group", now,
                           static_cast<uint64_t>(std::ceil(*times * kMore * static_cast<double>(now))));
  return error;
}

engine::Remembered remembered(const wire::TaskT& task, const WorkerOptions& options, const store::Store& store,
                              uint64_t memory_bytes) {
  constexpr uint64_t kShare = 8;
  if (task.set_before.empty() || !options.pack.profile.remembers()) return {};
  return engine::remember(store.files_of(task.set_before), task.container_before, memory_bytes / kShare);
}

Result<std::string> pack(const wire::TaskT& task, const TaskContext& context, RemoteSources& sources) {
  FOREBAY_TRY(const store::Store store, store::Store::open(context.options.store));
  FOREBAY_TRY(const auto staged, store.join(task.staged));
  const engine::PackOptions& options = context.options.pack;
  const engine::Resources& resources = context.resources;
  const LayoutOptions layouts{.similarity = options.similarity,
                              .format = options.format,
                              .threads = resources.threads,
                              .moved = [&] { context.progress.step(); },
                              .stop = context.stop};
  const auto catalogue = [&](uint64_t memory_bytes) { return sources.catalogue(layouts, memory_bytes); };
  CountedSources counted(sources, [&] { context.progress.step(); });  // samples come before the first frame
  const engine::GroupHooks hooks{.delivered = [&](uint64_t raw, uint64_t stored) { context.progress.add(raw, stored); },
                                 .stop = context.stop};
  const auto report =
      engine::pack_group({.files = sources.files(), .sources = counted, .catalogue = catalogue},
                         {.set = *staged, .name = task.container, .limit = context.options.limit}, options, resources,
                         nullptr, remembered(task, context.options, store, resources.memory_bytes), hooks);
  if (report) return engine::to_text(*report);
  // What was there before is another's.
  if (report.error().kind != ErrorKind::exists) (void)staged->remove(task.container);
  return std::unexpected(with_memory(report.error(), context.options));
}

Result<store::ContainerEntry> find_container(const store::SetInfo& set, const std::string& name) {
  FOREBAY_CHECK(set.manifest);
  for (const store::ContainerEntry& entry : set.manifest->containers)
    if (entry.name == name) return entry;
  return fail(ErrorKind::not_found, "the set has no container of that name", set.files.path_of(name));
}

Result<void> deliver(const wire::TaskT& task, const TaskContext& context, PeerFaults& faults) {
  engine::Resources resources = context.resources;
  resources.progress = [&](const engine::Progress& progress) { context.progress.set(progress.done_bytes); };
  FOREBAY_TRY(const store::Store store, store::Store::open(context.options.store));
  FOREBAY_TRY(const store::SetInfo set, store.find(task.set));
  FOREBAY_TRY(const store::ContainerEntry entry, find_container(set, task.container));
  FOREBAY_TRY(const auto target, RoutingTarget::open(context.access, task, faults));
  FOREBAY_CHECK(engine::write_container_files(set, entry, target->ranks(), *target, resources, context.stop));
  return target->finish();
}

}  // namespace

TaskResult pack_task(const wire::TaskT& task, const TaskContext& context) {
  auto sources = RemoteSources::open(context.access, task);
  if (!sources) return {std::unexpected(std::move(sources).error())};
  TaskResult result{pack(task, context, **sources)};
  if (!result.report) result.peer = (*sources)->failed_peer(result.report.error());
  return result;
}

TaskResult deliver_task(const wire::TaskT& task, const TaskContext& context) {
  PeerFaults faults;
  const auto delivered = deliver(task, context, faults);
  if (delivered) return {std::string()};
  return {std::unexpected(delivered.error()), faults.find(delivered.error())};
}

wire::FaultSide side_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::invalid_argument:
    case ErrorKind::unsupported:
    case ErrorKind::limit:
    case ErrorKind::cancelled:
    case ErrorKind::internal:
      return wire::FaultSide::other;
    default:
      return wire::FaultSide::store;
  }
}

}  // namespace forebay::job
