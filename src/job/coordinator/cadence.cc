#include "job/coordinator/cadence.h"

#include <algorithm>
#include <vector>

namespace forebay::job {
namespace {

void add(std::deque<double>& latest, double value) {
  if (latest.size() == Cadence::kMost) latest.pop_front();
  latest.push_back(value);
}

double median(const std::deque<double>& values) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

}  // namespace

void Cadence::completed(const std::string& set, double seconds, Time now) {
  const std::pair its(set, seconds);
  if (seconds <= 0 || (sets_ > 0 && its == latest_)) return;
  latest_ = its;
  ++sets_;
  add(costs_, seconds);
  if (last_) add(intervals_, std::chrono::duration<double>(now - *last_).count());
  last_ = now;
}

void Cadence::restarted() {
  if (last_) ++failures_;
  last_.reset();
}

MeasuredRun Cadence::measured(Time now) const {
  return {.seconds = std::chrono::duration<double>(now - started_).count(),
          .failures = failures_,
          .set_seconds = median(costs_),
          .interval = median(intervals_)};
}

}  // namespace forebay::job
