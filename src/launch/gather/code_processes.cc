#include "launch/gather/code_processes.h"

#include <algorithm>
#include <ctime>

#include <unistd.h>

#include "base/posix/processes.h"

namespace forebay::launch {
namespace {

uint64_t ticks_since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const auto ticks = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  constexpr uint64_t kNanoseconds = 1'000'000'000;
  return static_cast<uint64_t>(now.tv_sec) * ticks + static_cast<uint64_t>(now.tv_nsec) * ticks / kNanoseconds;
}

// When it was started; nothing if it has ended.
std::optional<uint64_t> started_of(pid_t pid) {
  const auto times = parse_process_times(process_text(pid, "stat"), ::sysconf(_SC_CLK_TCK));
  return times ? std::optional(times->started) : std::nullopt;
}

bool is_of_code(pid_t pid, const std::string& stage) {
  const std::string environment = process_text(pid, "environ");
  return variable_in(environment, "FOREBAY_STAGE") == stage && variable_in(environment, "FOREBAY_ATTEMPT");
}

}  // namespace

bool CodeProcesses::has_lost_one() {
  const bool has_lost =
      std::ranges::any_of(seen_, [](const auto& one) { return started_of(one.first) != std::optional(one.second); });
  const auto age = static_cast<uint64_t>(least_age_.count()) * static_cast<uint64_t>(::sysconf(_SC_CLK_TCK)) / 1000;
  const uint64_t now = ticks_since_boot();
  std::map<pid_t, uint64_t> found;
  for (const pid_t pid : other_processes()) {
    if (!is_own_process(pid)) continue;
    const auto started = started_of(pid);
    if (!started || now < *started + age) continue;
    const auto known = seen_.find(pid);
    const bool is_known = known != seen_.end() && known->second == *started;
    if (is_known || is_of_code(pid, stage_)) found.emplace(pid, *started);
  }
  seen_ = std::move(found);
  return has_lost;
}

}  // namespace forebay::launch
