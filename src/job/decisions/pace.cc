#include "job/decisions/pace.h"

namespace forebay::job {
namespace {

void push(std::deque<double>& latest, double value) {
  if (latest.size() == Pace::kMost) latest.pop_front();
  latest.push_back(value);
}

}  // namespace

void Pace::add(const Set& set) {
  ++sets;
  has_set = true;
  latest = set.name;
  latest_seconds = set.seconds;
  push(costs, set.seconds);
  if (set.interval > 0) push(intervals, set.interval);
}

void Pace::restarted() {
  if (has_set) ++failures;
  has_set = false;
}

}  // namespace forebay::job
