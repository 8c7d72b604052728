// What stays wrong is said at once, and then once an hour. Pure.
#pragma once

#include <chrono>
#include <map>
#include <string>

namespace forebay::job {

class Reminder {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::hours kPause{1};

  // Whether it is to be said now; then it counts as said.
  bool is_due(const std::string& about, Time now) {
    const auto [said, is_new] = said_.try_emplace(about, now);
    if (!is_new && now - said->second < kPause) return false;
    said->second = now;
    return true;
  }

 private:
  std::map<std::string, Time> said_;
};

// Whether files lie somewhere for a while, and none is of a set by the rule. Pure.
class RuleWatch {
 public:
  using Time = Reminder::Time;
  static constexpr std::chrono::seconds kPatience{60}, kBetweenLooks{10};

  explicit RuleWatch(Time now) : next_(now + kBetweenLooks) {}

  // A set was found: the rule fits.
  void matched() { next_ = Time::max(); }
  // When to look next; Time::max(): never.
  Time next() const { return next_; }
  // What a look has found, files or none. Whether somebody is to hear of it now.
  bool looked(bool has_files, Time now) {
    next_ = now + kBetweenLooks;
    if (!has_files || since_ == Time::max()) since_ = has_files ? now : Time::max();
    if (!has_files || now - since_ < kPatience) return false;
    next_ = now + Reminder::kPause;
    return true;
  }

 private:
  Time next_, since_ = Time::max();
};

}  // namespace forebay::job
