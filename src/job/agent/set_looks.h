// When an agent looks at which set of its stage again, and what it has said of each. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace forebay::job {

class SetLooks {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Whether the set may be looked at now: not while somebody else is at it, but again soon then. What was planned for
  // it is over when it is.
  bool may_look(const std::string& set, Time now);
  // Time completes it, or it cannot be looked at now.
  void look_again(const std::string& set, Time at) { again_[set] = at; }
  // Those whose time has come, which are planned no more; what a format reader said of them is forgotten.
  std::vector<std::string> due(Time now);
  Time next() const;  // Time::max(): none is planned

  // The agent's other thread is at it, in the meantime.
  void begin_work(const std::string& set) { busy_.insert(set); }
  void end_work(const std::string& set) { busy_.erase(set); }
  bool is_idle() const { return busy_.empty(); }

  // A format reader does not accept the set as it was then.
  void rejected(const std::string& set, std::string fingerprint, std::string reason);
  void accepted(const std::string& set) { rejected_.erase(set); }
  bool is_rejected(const std::string& set, const std::string& fingerprint) const;
  std::optional<std::string> why_rejected(const std::string& set) const;

  // Whether this is to be said of it: what is true again and again is said once.
  bool is_news(const std::string& set, const std::string& text) { return std::exchange(said_[set], text) != text; }
  void forget_news(const std::string& set) { said_.erase(set); }
  // Nobody will ask for it any more.
  void forget(const std::string& set);

 private:
  struct Rejected {
    std::string fingerprint, reason;
  };
  std::map<std::string, Time> again_;
  std::set<std::string> busy_;
  std::map<std::string, Rejected> rejected_;
  std::map<std::string, std::string> said_;  // last
};

// What becomes of the coordinator's question what the stage holds, now that the application rests.
class RestingStage {
 public:
  // `is_idle`: nobody else is at any set, so that all were looked at.
  void asked(uint64_t number, bool is_idle) {
    number_ = number;
    look_again_ = !is_idle;
  }
  void forget() { number_.reset(); }
  // Whether all sets are to be looked at once more before it is answered. To be called when nobody is at a set any
  // more.
  bool must_look_again() { return number_ && std::exchange(look_again_, false); }
  // It is answered now: its number; nothing if nobody has asked.
  std::optional<uint64_t> take() { return std::exchange(number_, std::nullopt); }
  bool is_asked() const { return number_.has_value(); }

 private:
  std::optional<uint64_t> number_;
  bool look_again_ = false;
};

}  // namespace forebay::job
