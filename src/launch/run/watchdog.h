// When an application hangs, and when a node of it is lost. (what was seen, now) in, findings out. Pure.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launch/run/sight.h"

namespace forebay::launch {

struct WatchOptions {
  // Zero: that is not looked after.
  std::chrono::milliseconds hang{0};      // without a completed set and without processor time
  std::chrono::milliseconds interval{0};  // without a completed set, whatever the processors do
  std::chrono::milliseconds node{0};      // without a node's agent
};

// Whether the application makes progress. While nobody tells, and while it may be waiting for Forebay, time does not
// count.
class ProgressWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Options = WatchOptions;

  explicit ProgressWatch(const Options& options) : options_(options) {}

  // It was started, or did not run for a while.
  void begin(Time now);
  // Why it hangs, for a message; nothing as long as it does not.
  std::optional<std::string> look(const std::optional<Sight>& sight, Time now);
  // No agent has ever told of a process since begin(): what processors do says nothing.
  bool is_blind() const { return !has_seen_processes_; }

  // Of one processor, on any one node: less is what waiting takes.
  static constexpr double kLeastShare = 0.01;
  static constexpr std::chrono::milliseconds kLeastTime{100};

 private:
  bool has_new_set(const Sight& sight);
  bool computes(const Sight& sight, Time now);

  Options options_;
  Time set_since_{}, progress_since_{};  // the last completed set; that, or processor time
  uint64_t generation_ = 0, sets_ = 0;
  bool has_seen_processes_ = false;
  struct Mark {
    std::chrono::milliseconds used{};
    Time at{};
  };
  std::map<std::string, Mark> marks_;  // by host, when it was last seen to compute
};

// Which nodes are lost: their agents are unknown to the coordinator, for longer than it takes to start them again.
class NodeWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit NodeWatch(std::chrono::milliseconds patience) : patience_(patience) {}

  void begin() { absent_since_.clear(); }  // nothing was seen for a while
  // Of `hosts`, those that are lost. None while no coordinator answers, nor while all of several nodes are missing: it
  // is this side that is cut off then.
  std::vector<std::string> look(const std::vector<std::string>& hosts, const std::optional<Sight>& sight, Time now);

 private:
  std::chrono::milliseconds patience_;
  std::map<std::string, Time> absent_since_;
};

// Whether each agent of `hosts` was heard later than `since`.
bool all_heard_since(const std::vector<std::string>& hosts, const Sight& sight,
                     std::chrono::steady_clock::time_point since, std::chrono::steady_clock::time_point now);

}  // namespace forebay::launch
