#include "job/worker/task_progress.h"

namespace forebay::job {

void TaskProgress::add(uint64_t raw_bytes, uint64_t container_bytes) {
  const std::lock_guard lock(mutex_);
  raw_bytes_ += raw_bytes;
  stored_bytes_ = container_bytes;
  tell();
}

void TaskProgress::set(uint64_t raw_bytes) {
  const std::lock_guard lock(mutex_);
  raw_bytes_ = raw_bytes;
  tell();
}

void TaskProgress::step() {
  const std::lock_guard lock(mutex_);
  ++steps_;
  tell();
}

void TaskProgress::tell() {
  constexpr std::chrono::milliseconds kPause{250};
  const auto now = std::chrono::steady_clock::now();
  if (now < next_ || !tell_) return;
  next_ = now + kPause;
  wire::TaskProgressT message;
  message.id = task_;
  message.raw_bytes = raw_bytes_;
  message.steps = steps_;
  message.stored_bytes = stored_bytes_;
  tell_(std::move(message));
}

}  // namespace forebay::job
