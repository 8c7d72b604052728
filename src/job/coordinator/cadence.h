// How often a running job completes checkpoint sets, what one costs the application, and how often it was started
// again: what advice on the interval is made of (job/plan/interval_model.h), and when it is time to say that none comes
// any more. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "job/decisions/pace.h"
#include "job/plan/interval_model.h"

namespace forebay::job {

class Cadence {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `pace`: as all coordinators have measured it, this one too; its owner adds the measurements of this one.
  Cadence(Time now, const Pace& pace) : started_(now), since_(now), pace_(pace) {}

  // All ranks have completed the set. `seconds`: from the first rank's begin to the last one's end, on the node where
  // it took longest; 0: nobody knows. What is measured by it: nothing if it is the same set again.
  std::optional<Pace::Set> completed(const std::string& set, double seconds, Time now);

  // The application was started again and was told where to begin.
  void restarted() { last_.reset(); }
  // Nobody is there who would complete one, or all wait for a restart.
  void rests(Time now) { since_ = now; }

  // No set became complete for three intervals, as they are measured, and for `least`.
  struct Late {
    double seconds = 0, interval = 0;
  };
  std::optional<Late> late(Time now, std::chrono::milliseconds least) const;

  uint64_t sets() const { return pace_.sets; }

  // Medians, so that one late set changes little.
  MeasuredRun measured(Time now) const;

 private:
  Time started_;
  Time since_;                // the last set, or rest
  std::optional<Time> last_;  // since the last start
  const Pace& pace_;
};

}  // namespace forebay::job
