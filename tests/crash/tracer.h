// Runs a command and interferes with one of its system calls.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <sys/ptrace.h>
#include <sys/types.h>

#include "syscalls.h"

namespace crash {

enum class Action : uint8_t {
  count,        // let everything pass
  kill,         // SIGKILL before the call is done
  fail,         // the call is not done, except a close, and returns an error
  fail_onward,  // so do all later ones that a full disk would refuse
};

struct Plan {
  Action action = Action::count;
  uint64_t at = 0;  // the number of the call among those that count, from 1
  int error = 0;
  std::string under = {};  // if not empty, only calls on files and directories whose absolute name starts with this
                           // count
  std::string reads_under = {};  // if not empty, what counts are the calls that open or read files whose absolute name
                                 // starts with this, in place of those that change something
};

struct Outcome {
  uint64_t calls = 0;      // those that count, over all threads and children
  std::string interfered;  // the name of the call that was interfered with, or empty
  int exit_code = -1;      // -1: killed by `signal`
  int signal = 0;
};

// Follows a command and all its threads and children with ptrace(2). Counting begins when the command's program is
// loaded. x86-64 Linux only.
class Tracer {
 public:
  explicit Tracer(const Plan& plan) : plan_(plan) {}

  // Runs argv[0] (looked up in PATH) to its end. An exit code of 127 if it cannot be run.
  Outcome run(char* const argv[]);

 private:
  void follow(pid_t main);
  int on_stop(pid_t tid, int status);  // the signal to deliver
  void on_syscall(pid_t tid);
  void on_entry(pid_t tid, uint64_t number, const uint64_t args[6]);
  void on_exit(pid_t tid, int64_t returned);
  std::optional<Syscall> change(pid_t tid, uint64_t number, const uint64_t args[6]);
  static bool has_room(pid_t tid, uint64_t number, const uint64_t args[6]);
  bool is_under(pid_t tid, uint64_t number, const uint64_t args[6]) const;
  std::optional<Syscall> read(pid_t tid, uint64_t number, const uint64_t args[6]);
  void interfere(pid_t tid, const char* name);
  void skip_call(pid_t tid);

  const Plan plan_;
  Outcome outcome_;
  bool is_loaded_ = false, is_killing_ = false;
  std::set<pid_t> started_;                      // threads whose first SIGSTOP has passed
  std::map<pid_t, pid_t> process_of_;            // thread to process
  std::set<pid_t> failing_;                      // threads in a call that was skipped
  std::set<pid_t> opening_;                      // threads in an open that counts, or that copy what it returned
  std::set<std::pair<pid_t, uint64_t>> opened_;  // process and descriptor that it returned
};

}  // namespace crash
