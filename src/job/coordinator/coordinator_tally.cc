// What a job's coordinators have counted, one after another. Each tells the agents with the news of a set, so that who
// has heard of a set has the tally with it; the next one learns it of the agent that was told last. A set of which not
// all agents have heard is offered again, and is not counted twice: the tally names the latest.
#include <algorithm>

#include "job/coordinator/coordinator_impl.h"

namespace forebay::job {
namespace {

constexpr size_t kMaxLatest = 32;

uint64_t sets_of(const wire::TallyT& tally) { return tally.durable + tally.skipped + tally.failed; }

}  // namespace

void Coordinator::Impl::count(wire::SetState state, const std::string& stored_as) {
  if (state == wire::SetState::skipped) ++totals.skipped;
  if (state == wire::SetState::failed) ++totals.failed;
  if (state != wire::SetState::durable || std::ranges::find(latest, stored_as) != latest.end()) return;
  ++totals.durable;
  latest.push_back(stored_as);
  if (latest.size() > kMaxLatest) latest.pop_front();
}

void Coordinator::Impl::learn(const wire::TallyT& tally) {
  if (tally.generation >= generation || sets_of(tally) <= sets_of(earlier)) return;
  const std::vector<std::string> known = std::exchange(earlier, tally).latest;
  std::deque<std::string> all(tally.latest.begin(), tally.latest.end());
  for (std::string& name : latest) {
    if (std::ranges::find(tally.latest, name) == tally.latest.end())
      all.push_back(std::move(name));
    else if (std::ranges::find(known, name) == known.end())
      --totals.durable;  // both have counted it
  }
  latest = std::move(all);
  while (latest.size() > kMaxLatest) latest.pop_front();
}

wire::TallyT Coordinator::Impl::tally() const {
  wire::TallyT all;
  all.generation = generation;
  all.durable = earlier.durable + totals.durable;
  all.skipped = earlier.skipped + totals.skipped;
  all.failed = earlier.failed + totals.failed;
  all.restarts = earlier.restarts + totals.restarts;
  all.raw_bytes = earlier.raw_bytes + totals.raw_bytes;
  all.stored_bytes = earlier.stored_bytes + totals.stored_bytes;
  all.latest.assign(latest.begin(), latest.end());
  return all;
}

}  // namespace forebay::job
