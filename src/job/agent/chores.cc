#include "job/agent/chores.h"

#include <utility>

namespace forebay::job {

void Chores::add(std::function<void()> chore) {
  {
    const std::lock_guard lock(mutex_);
    chores_.push_back(std::move(chore));
  }
  added_.notify_one();
}

void Chores::run(const std::stop_token& stop) {
  for (;;) {
    std::function<void()> chore;
    {
      std::unique_lock lock(mutex_);
      if (!added_.wait(lock, stop, [&] { return !chores_.empty(); }) || stop.stop_requested()) return;
      chore = std::move(chores_.front());
      chores_.pop_front();
    }
    chore();
  }
}

}  // namespace forebay::job
