// Ends what is left of the application on this node when `forebay run` is killed: its processes got a signal then, but
// they may ignore it, and most have got it of nobody.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/error.h"
#include "base/fd.h"

namespace forebay::launch {

// A process of its own. When the process that made it ends without having destroyed this object, however it ends, all
// processes of this node that were started with the mark in their environment get SIGTERM, and after `grace` SIGKILL,
// whatever session they are in and whoever is their parent. What other nodes have is for the application's launcher.
class Guard {
 public:
  // The calling thread must be the only one of its process. Before adopt_orphans(): the guard is nobody's child.
  static Result<Guard> start(std::chrono::milliseconds grace);
  Guard(Guard&&) = default;
  Guard& operator=(Guard&&) = delete;
  ~Guard();  // waits for the guard's end, for a second at most

  // A variable, and a value that no other guard has.
  const std::pair<std::string, std::string>& mark() const { return mark_; }

 private:
  Guard(std::pair<std::string, std::string> mark, Fd lifeline, Fd ended)
      : mark_(std::move(mark)), lifeline_(std::move(lifeline)), ended_(std::move(ended)) {}
  std::pair<std::string, std::string> mark_;
  Fd lifeline_, ended_;
};

// The processes of this node that have `entry` ("NAME=VALUE") in the environment that they were started with, as far as
// this process may look.
std::vector<pid_t> processes_with(const std::string& entry);

}  // namespace forebay::launch
