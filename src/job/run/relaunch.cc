#include "job/run/relaunch.h"

#include <cstring>

#include <fmt/format.h>
#include <sys/wait.h>

namespace forebay::job {

Ending Ending::of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {0, WTERMSIG(wait_status)};
  return {WEXITSTATUS(wait_status), 0};
}

std::string Ending::text() const {
  if (signal != 0) return fmt::format("signal {} ({})", signal, ::strsignal(signal));
  return fmt::format("exit code {}", exit_code);
}

bool should_relaunch(const Ending& ending, bool was_ended, bool told_to_end, uint64_t done, uint64_t most) {
  return (was_ended || !ending.good()) && !told_to_end && done < most;
}

std::optional<std::chrono::milliseconds> Revival::after_death(Time now) {
  constexpr std::chrono::milliseconds kFirst{200};
  deaths_.push_back(now);
  while (now - deaths_.front() > kWindow) deaths_.pop_front();
  if (deaths_.size() > kMostDeaths) return std::nullopt;
  return kFirst * (1 << (2 * (deaths_.size() - 1)));
}

}  // namespace forebay::job
