// What Ctrl-C does to a verb that writes something: it is not left half done.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "base/fd.h"

namespace forebay::cli {

// As long as it lives, SIGINT, SIGTERM and SIGHUP say what was interrupted, remove what the process has begun under
// names of its own (store::remove_taken_names()), and end it as they do otherwise; a second one ends it at once. To be
// made before the threads of the work. Where a signal is ignored, as of a shell's background jobs, it stays so.
class Interruptible {
 public:
  explicit Interruptible(std::string what);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  void wait() const;

  const std::string what_;
  Fd signals_, done_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

}  // namespace forebay::cli
