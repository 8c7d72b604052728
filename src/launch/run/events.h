// What the starter of a job waits for: its children, signals, pipes, and time.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "launch/run/processes.h"

namespace forebay::launch {

class Events {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // From now on SIGCHLD, SIGINT, SIGTERM, SIGHUP and SIGTSTP of this thread come as events only.
  static Result<Events> open();

  struct Signal {
    int number = 0;
    bool from_terminal = false;  // the whole foreground group has it, too
  };
  struct Seen {
    std::vector<Ended> ended;
    std::vector<Signal> signals;
    std::vector<int> readable;  // of `fds`
  };
  // Waits until something happens, or until the time has come.
  Seen wait(std::span<const int> fds, Time until);

  // What SIGTSTP does by default; returns when somebody has continued this process, or at once where nobody could.
  static void stop_this_process();

 private:
  explicit Events(Fd signals) : signals_(std::move(signals)) {}
  void read_signals(Seen& seen);

  Fd signals_;
};

}  // namespace forebay::launch
