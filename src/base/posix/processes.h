// The processes of this node, as /proc shows them. Thread-safe. A process may end at any moment: what is asked of one
// that has ended, or that is another user's, is empty.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace forebay {

// All but this one; none if /proc cannot be read.
std::vector<pid_t> other_processes();

// Whether it runs as this process's effective user.
bool is_own_process(pid_t pid);

// /proc/PID/NAME ("stat", "environ", "comm"), 4 MiB of it at most.
std::string process_text(pid_t pid, const char* name);

// The value of a variable in the text of /proc/PID/environ; nothing if it is not set. Pure; a view into `environment`.
std::optional<std::string_view> variable_in(std::string_view environment, std::string_view name);

struct ProcessTimes {
  uint64_t started = 0;                        // ticks since the system was; with the number, it names one process
  std::chrono::milliseconds processor_time{};  // of all its threads
  bool operator==(const ProcessTimes&) const = default;
};

// From /proc/PID/stat, "PID (NAME) STATE ...", where the name may hold anything; `ticks`: in a second. Nothing if it is
// something else, or of a process that has ended. Pure.
std::optional<ProcessTimes> parse_process_times(std::string_view stat, long ticks);

}  // namespace forebay
