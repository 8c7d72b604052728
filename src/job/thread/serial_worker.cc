#include "job/thread/serial_worker.h"

namespace forebay::job {

void SerialWorker::push(Chore chore) {
  {
    const std::lock_guard lock(mutex_);
    chores_.push_back(std::move(chore));
  }
  added_.notify_one();
}

void SerialWorker::run(const std::stop_token& stop) {
  for (;;) {
    Chore chore;
    {
      std::unique_lock lock(mutex_);
      if (!added_.wait(lock, stop, [&] { return !chores_.empty(); }) || stop.stop_requested()) return;
      chore = std::move(chores_.front());
      chores_.pop_front();
    }
    chore.work();
    post_(std::move(chore.hand_over));
  }
}

}  // namespace forebay::job
