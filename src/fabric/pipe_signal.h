// SIGPIPE, which sendfile() raises for a socket that is closed, and which cannot be turned off by a flag as for send().
#pragma once

#include <signal.h>
#include <time.h>

namespace forebay::fabric {

// Blocks it in this thread for as long as this lives, and takes away what came meanwhile.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    const sigset_t pipe = only_pipe();
    pthread_sigmask(SIG_BLOCK, &pipe, &before_);
  }
  ~WithoutPipeSignal() {
    const sigset_t pipe = only_pipe();
    const timespec now{};
    if (!was_pending_) sigtimedwait(&pipe, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  static sigset_t only_pipe() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
  }
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace forebay::fabric
