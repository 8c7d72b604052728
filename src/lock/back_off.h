// When to ask a server again that did not answer.
#pragma once

#include <algorithm>
#include <chrono>

namespace forebay::lock {

// After a failure nothing is tried for as long as the attempt took, after each further one for twice as long as before:
// a server that is silent costs its clients a bounded share of their time. One thread at a time.
class BackOff {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLongest{60};

  bool may_try(Clock::time_point now) const { return now >= next_; }
  Clock::time_point next() const { return next_; }

  void failed(Clock::time_point now, Clock::duration took) {
    pause_ = pause_ == Clock::duration::zero() ? took : 2 * pause_;
    pause_ = std::min<Clock::duration>(pause_, kLongest);
    next_ = now + pause_;
  }
  void succeeded() { *this = {}; }

 private:
  Clock::duration pause_{};
  Clock::time_point next_ = Clock::time_point::min();
};

}  // namespace forebay::lock
