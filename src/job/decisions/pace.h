// How often a job completes sets and what one costs it, as its coordinators have measured it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace forebay::job {

struct Pace {
  static constexpr size_t kMost = 32;  // sets that count: the latest ones

  struct Set {
    std::string name;
    double seconds = 0;   // from the first rank's begin to the last one's end
    double interval = 0;  // since the set before; 0: not known
    bool operator==(const Set&) const = default;
  };

  void add(const Set& set);
  // The application was started again and was told where to begin; after a set was completed, that is a failure.
  void restarted();

  uint64_t sets = 0, failures = 0;
  bool has_set = false;  // since the last start
  std::string latest;    // set, with its seconds: a program may use one name for all
  double latest_seconds = 0;
  std::deque<double> costs, intervals;  // seconds
  bool operator==(const Pace&) const = default;
};

}  // namespace forebay::job
