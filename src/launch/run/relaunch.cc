#include "launch/run/relaunch.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <sys/wait.h>

namespace forebay::launch {

Ending Ending::of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {0, WTERMSIG(wait_status)};
  return {WEXITSTATUS(wait_status), 0};
}

std::string Ending::text() const {
  if (signal != 0) return fmt::format("signal {} ({})", signal, ::strsignal(signal));
  return fmt::format("exit code {}", exit_code);
}

bool should_relaunch(const Ending& ending, bool was_ended, bool told_to_end, uint64_t left) {
  return (was_ended || !ending.good()) && !told_to_end && left > 0;
}

Attempt attempt_between(const std::optional<Sight>& before, const std::optional<Sight>& after, bool ended_by_itself) {
  Attempt attempt{.from = {}, .completed_a_set = true, .ended_by_itself = ended_by_itself};
  if (!before || !after || before->generation != after->generation) return attempt;
  attempt.completed_a_set = after->sets_completed > before->sets_completed;
  attempt.got_answer = attempt.completed_a_set || after->restarts > before->restarts;
  if (after->restarts > before->restarts) attempt.from = after->restarted_from;
  return attempt;
}

RestartTrials::Verdict RestartTrials::ended(const Attempt& attempt) {
  if (attempt.completed_a_set || attempt.from != from_) attempts_ = 0;
  from_ = attempt.from;
  if (attempt.completed_a_set) {
    pause_ = first_pause_;
    return {pause_, false};
  }
  if (attempt.ended_by_itself && attempt.from != Sight::Source()) ++attempts_;
  const Verdict verdict{pause_, attempts_ >= kMostAttempts};
  pause_ = std::min(pause_ * 2, std::max(first_pause_, kLongestPause));
  return verdict;
}

NodeTrials::Verdict NodeTrials::ended(const Attempt& attempt, const std::vector<std::string>& closed, size_t nodes,
                                      size_t replaceable) {
  if (attempt.got_answer) starts_.clear();
  const bool is_cut_off = nodes > 1 && closed.size() == nodes;
  if (attempt.got_answer || closed.empty() || is_cut_off || replaceable < closed.size()) return {};
  Verdict verdict{.blames_nodes = true, .retire = {}};
  for (const std::string& host : closed) {
    if (++starts_[host] < kMostStarts) continue;
    verdict.retire.push_back(host);
    starts_.erase(host);
  }
  return verdict;
}

std::optional<std::chrono::milliseconds> Revival::after_death(Time now) {
  constexpr std::chrono::milliseconds kFirst{200};
  deaths_.push_back(now);
  while (now - deaths_.front() > kWindow) deaths_.pop_front();
  if (deaths_.size() > kMostDeaths) return std::nullopt;
  return kFirst * (1 << (2 * (deaths_.size() - 1)));
}

}  // namespace forebay::launch
