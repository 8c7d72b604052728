#include "launch/run/deadline.h"

#include <algorithm>

namespace forebay::launch {

Deadline::Deadline(Left left, std::chrono::milliseconds drain_before, bool asks, Time now)
    : drain_before_(drain_before), asks_(asks) {
  set(left, now);
}

void Deadline::set(Left left, Time now) {
  end_ = left ? now + *left : Time::max();
  if (!asks_) return;
  ask_at_ = now + kAskAgain;
  if (left && !due(now)) ask_at_ = std::min(ask_at_, end_ - drain_before_);
}

Deadline::Step Deadline::step(Time now) {
  if (is_over_) return Step::nothing;
  if (answer_until_ != Time::max()) {  // it was asked
    if (now < answer_until_) return Step::nothing;
    answered(false, {}, now);
  } else if (asks_ && now >= ask_at_) {
    answer_until_ = now + kPatience;
    return Step::ask;
  }
  if (!due(now)) return Step::nothing;
  is_over_ = true;
  return Step::end;
}

void Deadline::answered(bool known, Left left, Time now) {
  if (answer_until_ == Time::max()) return;
  answer_until_ = Time::max();
  if (known) return set(left, now);
  ask_at_ = now + kAskAgain;
}

Deadline::Time Deadline::next() const {
  if (is_over_) return Time::max();
  if (answer_until_ != Time::max()) return answer_until_;
  const Time due = end_ == Time::max() ? end_ : end_ - drain_before_;
  return asks_ ? std::min(ask_at_, due) : due;
}

}  // namespace forebay::launch
