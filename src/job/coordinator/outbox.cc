#include "job/coordinator/outbox.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace forebay::job {

CoordinatorOutput Outbox::pass(CoordinatorOutput out, Time now) {
  if (!out.decisions.empty() && !waits()) since_ = now;
  decided_ += out.decisions.size();
  std::vector<CoordinatorOutput::ToSend> at_once;
  for (CoordinatorOutput::ToSend& message : out.messages) {
    if (message.at_once)
      at_once.push_back(std::move(message));
    else
      messages_.emplace_back(decided_, std::move(message));
  }
  for (const SessionId id : out.closed) closed_.emplace_back(decided_, id);
  out.messages.clear();
  out.closed.clear();
  for (; !messages_.empty() && is_free(messages_.front().first); messages_.pop_front())
    out.messages.push_back(std::move(messages_.front().second));
  for (; !closed_.empty() && is_free(closed_.front().first); closed_.pop_front())
    out.closed.push_back(closed_.front().second);
  std::ranges::move(at_once, std::back_inserter(out.messages));
  return out;
}

void Outbox::logged(uint64_t decisions, Time now) {
  logged_ = std::min(decided_, logged_ + decisions);
  since_ = now;
}

}  // namespace forebay::job
