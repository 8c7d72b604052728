// When a daemon that nobody ends any more ends by itself (`--linger`). Pure.
#pragma once

#include <algorithm>
#include <chrono>

namespace forebay::job {

class Linger {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `patience`: how long nobody may need the daemon; 0: it never ends by itself. Time counts from `now` on.
  Linger(std::chrono::milliseconds patience, Time now) : patience_(patience), needed_(now) {}

  // Somebody needs it, or has just done.
  void need(Time now) { needed_ = now; }
  // To be called at next() or earlier: whether the daemon, which is needed now or not, is to end.
  bool is_over(bool is_needed, Time now) {
    if (patience_.count() == 0) return false;
    if (is_needed) need(now);
    looked_ = now;
    return now - needed_ >= patience_;
  }
  // When to ask again. Who needs the daemon may come and go unseen in between: a tenth of the patience is lost at most.
  Time next() const {
    if (patience_.count() == 0) return Time::max();
    return std::min(needed_ + patience_, looked_ + std::max(patience_ / 10, std::chrono::milliseconds(1)));
  }

 private:
  std::chrono::milliseconds patience_;
  Time needed_, looked_ = needed_;
};

}  // namespace forebay::job
