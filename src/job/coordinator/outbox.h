// Holds back what follows from decisions until these are in the log: a coordinator may die in between, and the next one
// knows what is logged, and nothing else. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <utility>

#include "job/coordinator/coordinator.h"

namespace forebay::job {

class Outbox {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // What of `out`, and of what was held back before, may go now. Messages keep their order, but for those that go at
  // once; connections are closed after all messages that came before that. The rest of `out` is not held back.
  CoordinatorOutput pass(CoordinatorOutput out, Time now);
  void logged(uint64_t decisions, Time now);
  // Nobody will read the log any more.
  void open() { is_open_ = true; }

  bool waits() const { return !is_open_ && logged_ < decided_; }
  // Nothing has been logged since then; while it waits.
  Time since() const { return since_; }
  // The process was stopped for this time.
  void forgive(std::chrono::nanoseconds gap) { since_ += gap; }

 private:
  bool is_free(uint64_t needs) const { return is_open_ || needs <= logged_; }

  uint64_t decided_ = 0, logged_ = 0;
  bool is_open_ = false;
  Time since_{};
  std::deque<std::pair<uint64_t, CoordinatorOutput::ToSend>> messages_;  // and how much must be logged before
  std::deque<std::pair<uint64_t, SessionId>> closed_;
};

}  // namespace forebay::job
