// Several processes at once that are waited for and whose output counts.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "launch/run/processes.h"

namespace forebay::launch {

struct HelperCommand {
  std::string name;  // "the restart on node7"
  std::vector<std::string> words;
  bool may_fail = false;  // its output is empty then, and while it has not ended
  int also_good = 0;      // an exit code that is no failure
};

class HelperCommands {
 public:
  HelperCommands() = default;
  ~HelperCommands() { clear(); }
  HelperCommands(const HelperCommands&) = delete;
  HelperCommands& operator=(const HelperCommands&) = delete;

  void clear();  // forgets all, and kills those that are left

  Result<void> start(const HelperCommand& errand);

  std::vector<int> pipes() const;
  void readable(int fd);
  bool ended(const Ended& process);  // true if it was one of these
  bool owns(pid_t pid) const;

  bool done() const;  // all have ended, and their output was read
  // Of all, in the order of their starts. disconnected, naming the first one that did not end well and should have.
  Result<std::vector<std::string>> outputs() const;

 private:
  struct One {
    std::string name;
    bool may_fail = false;
    int also_good = 0;
    Process process;  // pid 0: has ended
    std::string output;
    Ending ending;
    bool good() const {
      return process.pid == 0 && ending.signal == 0 && (ending.exit_code == 0 || ending.exit_code == also_good);
    }
  };
  std::vector<One> all_;
};

}  // namespace forebay::launch
