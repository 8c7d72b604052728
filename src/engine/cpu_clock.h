// Processor time of the calling thread.
#pragma once

#include <ctime>

namespace forebay::engine {

// Measures from construction on.
class CpuClock {
 public:
  double seconds() const { return now() - start_; }

 private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  double start_ = now();
};

}  // namespace forebay::engine
