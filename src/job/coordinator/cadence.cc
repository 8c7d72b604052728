#include "job/coordinator/cadence.h"

#include <algorithm>
#include <deque>
#include <vector>

namespace forebay::job {
namespace {

double median(const std::deque<double>& values) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

}  // namespace

std::optional<Pace::Set> Cadence::completed(const std::string& set, double seconds, Time now) {
  since_ = now;
  if (seconds <= 0 || (pace_.sets > 0 && set == pace_.latest && seconds == pace_.latest_seconds)) return std::nullopt;
  Pace::Set sample{.name = set, .seconds = seconds, .interval = 0};
  if (last_) sample.interval = std::chrono::duration<double>(now - *last_).count();
  last_ = now;
  return sample;
}

std::optional<Cadence::Late> Cadence::late(Time now, std::chrono::milliseconds least) const {
  constexpr size_t kLeastMeasured = 2;
  constexpr double kIntervals = 3;
  const double interval = median(pace_.intervals), seconds = std::chrono::duration<double>(now - since_).count();
  if (pace_.intervals.size() < kLeastMeasured || seconds < kIntervals * interval || now - since_ < least)
    return std::nullopt;
  return Late{seconds, interval};
}

MeasuredRun Cadence::measured(Time now) const {
  return {.seconds = std::chrono::duration<double>(now - started_).count(),
          .failures = pace_.failures,
          .set_seconds = median(pace_.costs),
          .interval = median(pace_.intervals)};
}

}  // namespace forebay::job
