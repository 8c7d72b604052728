#include "job/agent/rank_processes.h"

#include <algorithm>

#include <unistd.h>

namespace forebay::job {
namespace {

constexpr std::chrono::seconds kBetweenLooks{2};
constexpr const char* kVariable = "FOREBAY_RENDEZVOUS";

}  // namespace

void UsedTime::see(const std::map<pid_t, ProcessTimes>& processes) {
  for (const auto& [pid, times] : processes) {
    const auto last = last_.find(pid);
    const bool is_same = last != last_.end() && last->second.started == times.started;
    const auto before = is_same ? last->second.processor_time : std::chrono::milliseconds(0);
    total_ += std::max(times.processor_time - before, std::chrono::milliseconds(0));
  }
  last_ = processes;
}

RankProcesses::RankProcesses(const std::string& rendezvous)
    : rendezvous_(rendezvous), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void RankProcesses::add(pid_t pid) {
  const std::lock_guard lock(mutex_);
  known_.try_emplace(pid, 0);
}

RankProcesses::Usage RankProcesses::usage() const {
  const std::lock_guard lock(mutex_);
  return usage_;
}

void RankProcesses::run(const std::stop_token& stop) {
  UsedTime used;
  while (!stop.stop_requested()) {
    const auto found = look();
    used.see(found);
    std::unique_lock lock(mutex_);
    usage_ = {static_cast<uint32_t>(found.size()), used.total()};
    wake_.wait_for(lock, stop, kBetweenLooks, [] { return false; });
  }
}

// A process that is not one of them may become one when it runs another program: it is looked at each time.
std::map<pid_t, ProcessTimes> RankProcesses::look() {
  std::map<pid_t, uint64_t> known;
  {
    const std::lock_guard lock(mutex_);
    known = known_;
  }
  std::map<pid_t, ProcessTimes> found;
  for (const pid_t pid : other_processes()) {
    if (!is_own_process(pid)) continue;
    const auto times = parse_process_times(process_text(pid, "stat"), ::sysconf(_SC_CLK_TCK));
    if (!times) continue;
    const auto before = known.find(pid);
    const bool is_known = before != known.end() && (before->second == 0 || before->second == times->started);
    if (is_known || variable_in(process_text(pid, "environ"), kVariable) == rendezvous_) found[pid] = *times;
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [&](const auto& one) { return known.contains(one.first) && !found.contains(one.first); });
  for (const auto& [pid, times] : found) known_[pid] = times.started;
  return found;
}

}  // namespace forebay::job
