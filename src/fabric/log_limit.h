// At most so many lines a second: strangers must not be able to fill a disk.
#pragma once

#include <chrono>

namespace forebay::fabric {

class LogLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit LogLimit(unsigned lines_per_second) : most_(lines_per_second) {}

  bool admits(Time now) {
    if (now - second_ >= std::chrono::seconds(1)) {
      second_ = now;
      lines_ = 0;
    }
    return ++lines_ <= most_;
  }

 private:
  unsigned most_, lines_ = 0;
  Time second_{};
};

}  // namespace forebay::fabric
