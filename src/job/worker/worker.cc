#include "job/worker/worker.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "engine/pack/pack_group.h"
#include "job/wire/convert.h"
#include "job/worker/stream_tuner.h"
#include "job/worker/tasks.h"

namespace forebay::job {
namespace {

constexpr uint32_t kNoPeer = 0xffffffff;
constexpr std::chrono::milliseconds kPause{250};  // between two looks while a task waits for memory

wire::TaskDoneT to_message(uint64_t id, TaskResult result) {
  wire::TaskDoneT done;
  done.id = id;
  done.peer = kNoPeer;
  if (result.report) {
    done.report = *std::move(result.report);
    return done;
  }
  const Error& error = result.report.error();
  set_error(done, error);
  done.side = result.peer ? wire::FaultSide::source : side_of(error);
  if (result.peer) done.peer = *result.peer;
  return done;
}

}  // namespace

uint32_t most_streams(const WorkerOptions& options) {
  const auto bytes = engine::buffer_bytes(options.resources.resolved().memory_bytes);
  const uint64_t fit = bytes ? *bytes / engine::memory_for_full_frames(options.pack) : 1;
  return static_cast<uint32_t>(std::clamp<uint64_t>(options.streams, 1, std::max<uint64_t>(fit, 1)));
}

struct Worker::Impl {
  Impl(WorkerOptions its_options, WorkerCallbacks its_callbacks)
      : options(std::move(its_options)),
        callbacks(std::move(its_callbacks)),
        access{options.credentials, options.node, options.fabric, options.patience},
        streams(most_streams(options)),
        tuner(streams) {
    for (uint32_t i = 0; i < streams; ++i) threads.emplace_back([this](const std::stop_token& stop) { serve(stop); });
  }

  void serve(const std::stop_token& ended) {
    std::unique_lock lock(mutex);
    while (changed.wait(lock, ended, [&] { return !waiting.empty(); })) {
      const wire::TaskT current = std::move(waiting.front());
      waiting.pop_front();
      const std::stop_token stop = under_way.at(current.id).get_token();
      const bool packs = current.kind == wire::TaskKind::pack;
      if (packs) tuner.began(std::chrono::steady_clock::now());
      lock.unlock();
      TaskProgress progress(current.id, callbacks.progress);
      wire::TaskDoneT done = to_message(current.id, run(current, progress, stop));
      lock.lock();
      under_way.erase(current.id);
      const uint32_t before = tuner.streams();
      if (packs) tuner.ended(done.failed ? 0 : progress.stored_bytes(), std::chrono::steady_clock::now());
      const uint32_t pay = tuner.streams();
      lock.unlock();
      if (pay != before && callbacks.streams) callbacks.streams(pay);
      if (callbacks.done) callbacks.done(std::move(done));
      lock.lock();
    }
  }

  // A share of the memory is enough for most tasks. One that needs more has all of it, when the others have ended.
  TaskResult run(const wire::TaskT& current, TaskProgress& progress, const std::stop_token& stop) {
    {
      std::shared_lock shares(memory, std::defer_lock);
      if (!take(shares, progress, stop)) return cancelled();
      TaskResult result = run_with(streams, current, progress, stop);
      if (result.report || result.report.error().kind != ErrorKind::limit || streams == 1) return result;
    }
    std::unique_lock alone(memory, std::defer_lock);
    if (!take(alone, progress, stop)) return cancelled();
    return run_with(1, current, progress, stop);
  }

  static TaskResult cancelled() { return {fail(ErrorKind::cancelled, "the task was cancelled")}; }

  // False: it is to stop. A task that waits for others does not stand still.
  template <class Lock>
  static bool take(Lock& lock, TaskProgress& progress, const std::stop_token& stop) {
    while (!lock.try_lock_for(kPause)) {
      if (stop.stop_requested()) return false;
      progress.step();
    }
    return true;
  }

  // An exception would end the aggregator.
  TaskResult run_with(uint64_t share, const wire::TaskT& current, TaskProgress& progress,
                      const std::stop_token& stop) const {
    try {
      engine::Resources resources = options.resources.resolved();
      resources.progress = nullptr;
      const auto bytes = engine::buffer_bytes(resources.memory_bytes);
      if (!bytes) return {std::unexpected(bytes.error())};
      resources.memory_bytes = *bytes / share;
      resources.threads = std::max(1U, resources.threads / static_cast<unsigned>(share));
      const TaskContext context{options, resources, access, progress, stop};
      return current.kind == wire::TaskKind::pack ? pack_task(current, context) : deliver_task(current, context);
    } catch (const std::bad_alloc&) {
      return {fail(ErrorKind::limit, "no memory left", {}, {}, "try a smaller --memory")};
    } catch (const std::exception& error) {
      return {fail(ErrorKind::internal, std::string("a defect of Forebay: ") + error.what())};
    }
  }

  const WorkerOptions options;
  const WorkerCallbacks callbacks;
  const AgentAccess access;
  const uint32_t streams;

  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<wire::TaskT> waiting;                 // for a thread
  std::map<uint64_t, std::stop_source> under_way;  // tasks that wait or are being done
  StreamTuner tuner;
  std::shared_timed_mutex memory;     // shared by tasks with a share of it each
  std::vector<std::jthread> threads;  // the last: they use the rest
};

Worker::Worker(WorkerOptions options, WorkerCallbacks callbacks)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(callbacks))) {}

Worker::~Worker() {
  const std::lock_guard lock(impl_->mutex);
  for (auto& [id, stop] : impl_->under_way) stop.request_stop();
}

Result<void> Worker::start(wire::TaskT task) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->under_way.size() == impl_->streams || impl_->under_way.contains(task.id))
      return fail(ErrorKind::invalid_argument, "the worker has a task for each of its streams already");
    impl_->under_way.emplace(task.id, std::stop_source());
    impl_->waiting.push_back(std::move(task));
  }
  impl_->changed.notify_one();
  return {};
}

void Worker::cancel(uint64_t id) {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->under_way.find(id);
  if (found != impl_->under_way.end()) found->second.request_stop();
}

bool Worker::busy() const {
  const std::lock_guard lock(impl_->mutex);
  return !impl_->under_way.empty();
}

}  // namespace forebay::job
