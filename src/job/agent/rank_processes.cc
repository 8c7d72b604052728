#include "job/agent/rank_processes.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

namespace forebay::job {
namespace {

constexpr std::chrono::seconds kBetweenLooks{2};
constexpr size_t kMostEnvironment = 4u << 20;

std::string read_all(const std::string& path, size_t most) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[16384];
  for (ssize_t got; file && text.size() < most && (got = ::read(file.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  return text;
}

bool has_variable(std::string_view environment, std::string_view variable) {
  for (size_t at = 0; at < environment.size();) {
    const size_t end = std::min(environment.find('\0', at), environment.size());
    if (environment.substr(at, end - at) == variable) return true;
    at = end + 1;
  }
  return false;
}

bool is_of_this_user(const std::string& directory) {
  struct stat status{};
  return ::stat(directory.c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

}  // namespace

std::optional<ProcessTimes> parse_process_times(std::string_view stat, long ticks) {
  const size_t after = stat.rfind(") ");
  if (after == stat.npos || ticks <= 0) return std::nullopt;
  std::istringstream words{std::string(stat.substr(after + 2))};
  std::string state, skipped;
  words >> state;
  if (state == "Z" || state == "X") return std::nullopt;
  constexpr int kBetween = 10;  // fields 4 to 13
  for (int i = 0; i < kBetween; ++i) words >> skipped;
  uint64_t user = 0, system = 0, started = 0;
  words >> user >> system;
  constexpr int kToStart = 6;  // fields 16 to 21
  for (int i = 0; i < kToStart; ++i) words >> skipped;
  words >> started;
  if (!words) return std::nullopt;
  return ProcessTimes{started, std::chrono::milliseconds((user + system) * 1000 / static_cast<uint64_t>(ticks))};
}

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
    : variable_("FOREBAY_RENDEZVOUS=" + rendezvous), thread_([this](const std::stop_token& stop) { run(stop); }) {}

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
  DIR* const processes = ::opendir("/proc");
  while (const dirent* entry = processes != nullptr ? ::readdir(processes) : nullptr) {
    const pid_t pid = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? std::atoi(entry->d_name) : 0;
    const std::string directory = fmt::format("/proc/{}", pid);
    if (pid == 0 || pid == ::getpid() || !is_of_this_user(directory)) continue;
    const auto times = parse_process_times(read_all(directory + "/stat", 4096), ::sysconf(_SC_CLK_TCK));
    if (!times) continue;
    const auto before = known.find(pid);
    const bool is_known = before != known.end() && (before->second == 0 || before->second == times->started);
    if (is_known || has_variable(read_all(directory + "/environ", kMostEnvironment), variable_)) found[pid] = *times;
  }
  if (processes != nullptr) ::closedir(processes);
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [&](const auto& one) { return known.contains(one.first) && !found.contains(one.first); });
  for (const auto& [pid, times] : found) known_[pid] = times.started;
  return found;
}

}  // namespace forebay::job
