// The application's processes of this node, and the processor time that they use: by it `forebay run` tells an
// application that computes from one that hangs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include <sys/types.h>

#include "base/posix/processes.h"

namespace forebay::job {

// Sums up what processes have used that come and go. Pure.
class UsedTime {
 public:
  // All that were seen now.
  void see(const std::map<pid_t, ProcessTimes>& processes);
  std::chrono::milliseconds total() const { return total_; }  // never less than before

 private:
  std::map<pid_t, ProcessTimes> last_;
  std::chrono::milliseconds total_{};
};

// Looks every two seconds, in a thread of its own: what the system says of a process can take as long as the process
// hangs. Thread-safe.
class RankProcesses {
 public:
  // Of this user, those whose environment has FOREBAY_RENDEZVOUS=`rendezvous`, as `forebay run` gives it to the
  // application: a launcher that passes the environment on gives it to all ranks.
  explicit RankProcesses(const std::string& rendezvous);

  // One more, of which somebody else knows: a rank that is connected.
  void add(pid_t pid);

  struct Usage {
    uint32_t processes = 0;
    std::chrono::milliseconds processor_time{};  // of all that there were
  };
  Usage usage() const;

 private:
  void run(const std::stop_token& stop);
  std::map<pid_t, ProcessTimes> look();

  const std::string rendezvous_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::map<pid_t, uint64_t> known_;  // that belong to it, and when they were started; 0: not known yet
  Usage usage_;
  std::jthread thread_;  // the last one: it ends first
};

}  // namespace forebay::job
