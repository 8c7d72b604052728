// When an application must be told to end, so that what it has completed is drained before its job's time is over.
// Pure.
#pragma once

#include <chrono>
#include <optional>

namespace forebay::launch {

class Deadline {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Left = std::optional<std::chrono::seconds>;  // until the job's time is over; nothing: no limit

  Deadline() = default;  // there is none
  // `asks`: the limit may be changed while the job runs, and whoever set it can be asked again, now and then and before
  // the application is told to end.
  Deadline(Left left, std::chrono::milliseconds drain_before, bool asks, Time now);

  enum class Step { nothing, ask, end };
  // What is to be done now. After `ask` nothing until answered(); `end` once.
  Step step(Time now);
  // What was answered; `known` is false if there was no answer that made sense: then what was known before counts.
  void answered(bool known, Left left, Time now);
  // When step() is to be called, if not before.
  Time next() const;
  // When the job's time is over; Time::max() if there is no limit.
  Time end_of_job() const { return end_; }

  static constexpr std::chrono::minutes kAskAgain{10};
  static constexpr std::chrono::seconds kPatience{15};  // with an answer

 private:
  void set(Left left, Time now);
  bool due(Time now) const { return end_ != Time::max() && now >= end_ - drain_before_; }

  std::chrono::milliseconds drain_before_{0};
  bool asks_ = false, is_over_ = false;
  Time end_ = Time::max(), ask_at_ = Time::max(), answer_until_ = Time::max();
};

}  // namespace forebay::launch
