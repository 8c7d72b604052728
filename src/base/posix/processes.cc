#include "base/posix/processes.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

namespace forebay {

std::vector<pid_t> other_processes() {
  std::vector<pid_t> found;
  DIR* const directory = ::opendir("/proc");
  while (const dirent* entry = directory != nullptr ? ::readdir(directory) : nullptr) {
    const pid_t pid = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? std::atoi(entry->d_name) : 0;
    if (pid != 0 && pid != ::getpid()) found.push_back(pid);
  }
  if (directory != nullptr) ::closedir(directory);
  return found;
}

bool is_own_process(pid_t pid) {
  struct stat status{};
  return ::stat(fmt::format("/proc/{}", pid).c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

std::string process_text(pid_t pid, const char* name) {
  constexpr size_t kMost = 4u << 20;
  const Fd file(::open(fmt::format("/proc/{}/{}", pid, name).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[16384];
  for (ssize_t got; file && text.size() < kMost && (got = ::read(file.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  return text;
}

std::optional<std::string_view> variable_in(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::string_view one = environment.substr(0, environment.find('\0'));
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      return one.substr(name.size() + 1);
    environment.remove_prefix(std::min(one.size() + 1, environment.size()));
  }
  return std::nullopt;
}

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

}  // namespace forebay
