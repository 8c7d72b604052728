// Whether who holds something (a job's directory, a series of sets) is alive: where a process can be looked up it is,
// and elsewhere the lease counts that it renews (decision 0027). Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace forebay::job {

struct Holder {
  std::string host;           // for people
  std::string processes;      // the boot and the namespace in which `pid` is a process; equal: one can be looked up
  uint64_t pid = 0;           // of the process that holds
  uint64_t pid_started = 0;   // when it was started, in ticks since the boot: tells it from a later one of that number
  int64_t began_seconds = 0;  // since when it holds, in seconds since 1970
  std::string command;        // what it does, for people
  bool operator==(const Holder&) const = default;
};

// The file of a lease, and back. `text` is hostile: corrupt unless it is what seal_holder() makes.
std::string seal_holder(const Holder& holder);
Result<Holder> parse_holder(std::string_view text, const std::string& path);

// What can be seen of a holder.
struct Traces {
  bool same_processes = false;  // its process can be looked up here
  std::optional<uint64_t> pid_started =
      {};                           // of the process that has its number now, if one has; where it can be looked up
  std::chrono::seconds silence{0};  // since the lease was renewed
};

enum class Life : uint8_t {
  living,  // leave alone what it holds
  silent,  // on another node, and has not been heard of for kLease: may hang, or be gone. Leave alone what it holds
  dead,    // will not come back
};

inline constexpr std::chrono::seconds kRenewal{10};  // a lease is renewed so often
inline constexpr std::chrono::seconds kLease{120};   // twice as long as NFS may hide a renewal by default
// A job can be suspended, and its file system can hang, for days.
inline constexpr std::chrono::seconds kForgotten{7 * 24 * 60 * 60};

Life judge(const Holder& holder, const Traces& traces);

const char* to_string(Life life);  // "living", "silent", "dead"

// The time of the start and whether it still runs, from /proc/PID/stat: "pid (name) state ...". Nothing for a process
// that has ended and waits for its parent, and for what is no such line.
std::optional<uint64_t> parse_process_start(std::string_view stat);

}  // namespace forebay::job
