// How often a running job completes checkpoint sets, what one costs the application, and how often it was started
// again: what advice on the interval is made of (job/plan/interval_model.h). Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "job/plan/interval_model.h"

namespace forebay::job {

class Cadence {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr size_t kMost = 32;  // sets that count: the latest ones

  explicit Cadence(Time now) : started_(now) {}

  // All ranks have completed the set. `seconds`: from the first rank's begin to the last one's end, on the node where
  // it took longest; 0: nobody knows. The same set again is passed over.
  void completed(const std::string& set, double seconds, Time now);

  // The application was started again and was told where to begin; after a set was completed, that is a failure.
  void restarted();

  uint64_t sets() const { return sets_; }

  // Medians, so that one late set changes little.
  MeasuredRun measured(Time now) const;

 private:
  Time started_;
  std::optional<Time> last_;               // since the last start
  std::pair<std::string, double> latest_;  // with its seconds: a program may use one name for all
  uint64_t sets_ = 0, failures_ = 0;
  std::deque<double> costs_, intervals_;  // seconds
};

}  // namespace forebay::job
