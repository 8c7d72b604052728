#include "job/worker/worker.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "job/wire/convert.h"
#include "job/worker/tasks.h"

namespace forebay::job {
namespace {

constexpr uint32_t kNoPeer = 0xffffffff;

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

struct Worker::Impl {
  Impl(WorkerOptions its_options, WorkerCallbacks its_callbacks)
      : options(std::move(its_options)),
        callbacks(std::move(its_callbacks)),
        access{options.credentials, options.node, options.fabric, options.patience} {
    thread = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }

  void serve(const std::stop_token& ended) {
    std::unique_lock lock(mutex);
    while (changed.wait(lock, ended, [&] { return task.has_value(); })) {
      const wire::TaskT current = *std::exchange(task, std::nullopt);
      const std::stop_token stop = cancelled.get_token();
      lock.unlock();
      wire::TaskDoneT done = to_message(current.id, run(current, stop));
      lock.lock();
      under_way.reset();
      lock.unlock();
      if (callbacks.done) callbacks.done(std::move(done));
      lock.lock();
    }
  }

  // An exception would end the aggregator.
  TaskResult run(const wire::TaskT& current, const std::stop_token& stop) const {
    try {
      const bool packs = current.kind == wire::TaskKind::pack;
      TaskProgress progress(current.id, callbacks.progress);
      const TaskContext context{options, access, progress, stop};
      return packs ? pack_task(current, context) : deliver_task(current, context);
    } catch (const std::bad_alloc&) {
      return {fail(ErrorKind::limit, "no memory left", {}, {}, "try a smaller --memory")};
    } catch (const std::exception& error) {
      return {fail(ErrorKind::internal, std::string("a defect of Forebay: ") + error.what())};
    }
  }

  const WorkerOptions options;
  const WorkerCallbacks callbacks;
  const AgentAccess access;

  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::optional<wire::TaskT> task;    // that waits for the thread
  std::optional<uint64_t> under_way;  // the task that waits or is being done
  std::stop_source cancelled;         // of that task
  std::jthread thread;                // the last: it uses the rest
};

Worker::Worker(WorkerOptions options, WorkerCallbacks callbacks)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(callbacks))) {}

Worker::~Worker() {
  const std::lock_guard lock(impl_->mutex);
  impl_->cancelled.request_stop();
}

Result<void> Worker::start(wire::TaskT task) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->under_way) return fail(ErrorKind::invalid_argument, "the worker has a task already");
    impl_->under_way = task.id;
    impl_->cancelled = std::stop_source();
    impl_->task = std::move(task);
  }
  impl_->changed.notify_one();
  return {};
}

void Worker::cancel(uint64_t id) {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->under_way == id) impl_->cancelled.request_stop();
}

bool Worker::busy() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->under_way.has_value();
}

}  // namespace forebay::job
