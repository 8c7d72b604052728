// When to try again what has failed. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace forebay::job {

// Pauses of 1 s, 2 s, 4 s, ... up to a minute.
class Retry {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void failed(Time now) {
    if (failures_++ == 0) since_ = now;
    constexpr uint32_t kMostDoublings = 6;
    const std::chrono::seconds pause{uint64_t{1} << std::min(failures_ - 1, kMostDoublings)};
    next_ = now + std::min(pause, std::chrono::seconds(60));
  }
  void succeeded() { *this = {}; }

  uint32_t failures() const { return failures_; }
  Time since() const { return since_; }  // of the first failure in a row
  Time next() const { return next_; }

 private:
  uint32_t failures_ = 0;
  Time since_{}, next_{};
};

}  // namespace forebay::job
