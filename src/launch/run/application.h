// The process of the application, with those that it starts in its process group.
#pragma once

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "launch/run/processes.h"

namespace forebay::launch {

// It has a session and a process group of its own, so that a launcher that hangs can be ended with all that it started
// here. Signals of the terminal therefore do not reach it by themselves: pass_on() sends them. Used by one thread.
class Application {
 public:
  Application() = default;
  ~Application() { kill(); }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  // Errors of spawn(). Must not run.
  Result<void> start(std::vector<std::string> words, std::vector<std::pair<std::string, std::string>> environment);

  bool runs() const { return pid_ != 0; }
  bool owns(pid_t pid) const { return runs() && pid_ == pid; }
  // True if it is the process; its group may have members still, which are orphans then.
  bool ended(const Ended& process);

  // As if this process had not come between: what the terminal sends goes to the whole group, another signal to the
  // first process alone.
  void pass_on(int signal, bool from_terminal) const;
  void tell_all(int signal) const;          // the group
  void kill() const { tell_all(SIGKILL); }  // likewise

 private:
  pid_t pid_ = 0;  // and the number of the group; 0: does not run
};

}  // namespace forebay::launch
