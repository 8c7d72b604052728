#include "job/coordinator/tally.h"

#include <algorithm>
#include <utility>

namespace forebay::job {
namespace {

constexpr size_t kMaxLatest = 32;

uint64_t sets_of(const wire::TallyT& tally) { return tally.durable + tally.skipped + tally.failed + tally.cached; }

}  // namespace

void Tally::ended(wire::SetState state, const std::string& stored_as) {
  if (state == wire::SetState::skipped) ++own_.skipped;
  if (state == wire::SetState::failed) ++own_.failed;
  if (state == wire::SetState::cached) ++own_.cached;
  if (state != wire::SetState::durable || std::ranges::find(latest_, stored_as) != latest_.end()) return;
  ++own_.durable;
  latest_.push_back(stored_as);
  if (latest_.size() > kMaxLatest) latest_.pop_front();
}

bool Tally::completed(uint32_t flush_every) {
  if (flush_every == 0 || ++unflushed_ < flush_every) return false;
  unflushed_ = 0;
  return true;
}

void Tally::committed(uint64_t raw_bytes, uint64_t stored_bytes) {
  own_.raw_bytes += raw_bytes;
  own_.stored_bytes += stored_bytes;
}

void Tally::learn(const wire::TallyT& tally) {
  if (tally.generation >= generation_ || sets_of(tally) <= sets_of(earlier_)) return;
  unflushed_ += tally.unflushed - std::min(tally.unflushed, earlier_.unflushed);
  const std::vector<std::string> known = std::exchange(earlier_, tally).latest;
  std::deque<std::string> all(tally.latest.begin(), tally.latest.end());
  for (std::string& name : latest_) {
    if (std::ranges::find(tally.latest, name) == tally.latest.end())
      all.push_back(std::move(name));
    else if (std::ranges::find(known, name) == known.end())
      --own_.durable;  // both have counted it
  }
  latest_ = std::move(all);
  while (latest_.size() > kMaxLatest) latest_.pop_front();
}

wire::TallyT Tally::total() const {
  wire::TallyT all;
  all.generation = generation_;
  all.durable = earlier_.durable + own_.durable;
  all.skipped = earlier_.skipped + own_.skipped;
  all.failed = earlier_.failed + own_.failed;
  all.cached = earlier_.cached + own_.cached;
  all.unflushed = unflushed_;
  all.restarts = earlier_.restarts + own_.restarts;
  all.raw_bytes = earlier_.raw_bytes + own_.raw_bytes;
  all.stored_bytes = earlier_.stored_bytes + own_.stored_bytes;
  all.latest.assign(latest_.begin(), latest_.end());
  return all;
}

}  // namespace forebay::job
