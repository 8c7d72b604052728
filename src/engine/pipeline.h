// fetch -> work -> put: the pipeline of pack, and its mirror in restore.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/bounded_queue.h"
#include "base/memory_budget.h"

namespace forebay::engine {

struct PipelineThreads {
  unsigned fetch = 1;  // waiting for storage or the network, mostly
  unsigned work = 1;   // computing
};

// Runs jobs 0 to count-1 through three stages. The stages work at the same time on different jobs, joined by bounded
// queues; each job leases its memory before it is fetched and gives it back after it was put, so that the slowest
// stage throttles the first. The first error stops everything and is returned; no thread outlives run().
template <class Job>
class Pipeline {
 public:
  struct Stages {
    std::function<uint64_t(size_t number)> cost;      // the bytes of memory that a job needs, all stages together
    std::function<Result<Job>(size_t number)> fetch;  // called by any fetch thread
    std::function<Result<void>(Job& job)> work;       // called by any work thread
    std::function<Result<void>(Job& job)> put;        // called by the thread of run(), in the order of the numbers
  };

  // limit if a job costs more than all of `memory_bytes`.
  static Result<void> run(size_t count, uint64_t memory_bytes, PipelineThreads threads, const Stages& stages) {
    Pipeline pipeline(count, memory_bytes, threads, stages);
    {
      std::vector<std::jthread> pool;
      for (unsigned i = 0; i < threads.fetch; ++i) pool.emplace_back([&] { pipeline.fetch_loop(); });
      for (unsigned i = 0; i < threads.work; ++i) pool.emplace_back([&] { pipeline.work_loop(); });
      pipeline.put_loop();
      pipeline.stop();
    }
    if (pipeline.error_) return std::unexpected(*std::move(pipeline.error_));
    return {};
  }

 private:
  struct Item {
    size_t number;
    Lease lease;
    Job job;
  };

  Pipeline(size_t count, uint64_t memory_bytes, PipelineThreads threads, const Stages& stages)
      : count_(count), stages_(stages), budget_(memory_bytes), fetched_(threads.work + 1) {}

  // An exception must not leave a thread: it would end the process.
  template <class Stage>
  static auto guarded(const Stage& stage) -> decltype(stage()) {
    try {
      return stage();
    } catch (const std::bad_alloc&) {
      return forebay::fail(ErrorKind::limit, "no memory left", {}, {}, "try a smaller --memory");
    } catch (const std::exception& error) {
      return forebay::fail(ErrorKind::internal, std::string("a defect of Forebay: ") + error.what());
    }
  }

  // Numbers and leases are handed out together, so that the job whose turn it is always has its memory.
  std::optional<std::pair<size_t, Lease>> begin_job() {
    const std::lock_guard lock(dispatch_);
    if (next_ == count_) return std::nullopt;
    auto lease = budget_.lease(stages_.cost(next_));
    if (!lease) {
      fail(std::move(lease).error());
      return std::nullopt;
    }
    return std::pair(next_++, *std::move(lease));
  }

  void fetch_loop() {
    while (auto begun = begin_job()) {
      auto job = guarded([&] { return stages_.fetch(begun->first); });
      if (!job) return fail(std::move(job).error());
      if (!fetched_.push({begun->first, std::move(begun->second), *std::move(job)})) return;
    }
  }

  void work_loop() {
    while (auto item = fetched_.pop()) {
      if (auto done = guarded([&] { return stages_.work(item->job); }); !done) return fail(std::move(done).error());
      const std::lock_guard lock(mutex_);
      if (stopped_) return;
      const size_t number = item->number;
      done_.emplace(number, *std::move(item));
      changed_.notify_all();
    }
  }

  void put_loop() {
    for (size_t number = 0; number < count_; ++number) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopped_ || done_.contains(number); });
      if (stopped_) return;
      auto node = done_.extract(number);
      lock.unlock();
      if (auto put = guarded([&] { return stages_.put(node.mapped().job); }); !put) return fail(std::move(put).error());
    }
  }

  void fail(Error reason) {
    {
      const std::lock_guard lock(mutex_);
      if (!error_ && !stopped_) error_ = std::move(reason);
    }
    stop();
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    budget_.cancel();
    fetched_.close();
  }

  const size_t count_;
  const Stages& stages_;
  MemoryBudget budget_;
  BoundedQueue<Item> fetched_;

  std::mutex dispatch_;
  size_t next_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<size_t, Item> done_;  // worked on, waiting for their turn
  bool stopped_ = false;
  std::optional<Error> error_;
};

}  // namespace forebay::engine
