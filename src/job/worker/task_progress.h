// What a worker tells of the task under way: not too often.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "job/wire/messages.h"

namespace forebay::job {

// Thread-safe.
class TaskProgress {
 public:
  TaskProgress(uint64_t task, std::function<void(wire::TaskProgressT)> tell) : task_(task), tell_(std::move(tell)) {}

  void add(uint64_t raw_bytes, uint64_t container_bytes);  // of the container that is written, so far
  void set(uint64_t raw_bytes);
  void step();  // something else moves

  uint64_t stored_bytes() {
    const std::lock_guard lock(mutex_);
    return stored_bytes_;
  }

 private:
  void tell();  // with the lock

  const uint64_t task_;
  const std::function<void(wire::TaskProgressT)> tell_;
  std::mutex mutex_;
  uint64_t raw_bytes_ = 0, stored_bytes_ = 0, steps_ = 0;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace forebay::job
