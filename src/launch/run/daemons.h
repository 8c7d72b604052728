// The daemons that `forebay run` starts, and starts again when they die.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "launch/run/processes.h"
#include "launch/run/relaunch.h"

namespace forebay::launch {

using Say = std::function<void(const std::string& line)>;  // to the user

struct DaemonSpec {
  std::string name;                // "the agent of node7"
  std::vector<std::string> words;  // it prints a line when it is ready, and ends with its standard input
  std::string log;
  std::string host = {};                                              // the node that it is lost with; empty: none
  std::function<DaemonSpec(const std::string& host)> elsewhere = {};  // the same one on another node
};

// Used by one thread.
class Daemons {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Daemons(std::vector<DaemonSpec> specs, Say say);
  ~Daemons();  // kills those that are left

  Result<void> start();

  // Whether each is ready. An error if one ended before it was, with what it said last.
  Result<bool> ready() const;
  std::string not_ready() const;  // the names of those that are not

  // Pipes to be waited for, and what to call when they can be read. What a daemon prints after the line that says that
  // it is ready is passed on.
  std::vector<int> pipes() const;
  void readable(int fd);
  // True if the process was one of these. One that dies is started again by tick(), but for one that ended in good
  // order: somebody has stopped the job.
  bool ended(const Ended& process, Time now);
  void tick(Time now);
  Time next_tick() const;

  // The daemons of a node that is lost are ended, as far as they can be reached, and are not heard of any more.
  void give_up(const std::string& host);
  // Starts on another node what a node that was given up had. Errors of starting them.
  Result<void> start_instead(const std::string& lost, const std::string& instead);

  bool owns(pid_t pid) const;
  bool all_gone() const;
  bool stopped_by_others() const { return stopped_; }  // one has ended in good order before let_go()
  size_t deaths() const { return deaths_; }

  void let_go();  // lets all end: their lifelines are cut
  void kill(int signal) const;

 private:
  struct One;
  Result<void> start(One& one);
  void take(One& one, char next);
  std::vector<One> all_;
  Say say_;
  size_t deaths_ = 0;
  bool letting_go_ = false, stopped_ = false;
};

// The last line that is not empty of a log, for messages.
std::string last_line(const std::string& path);

}  // namespace forebay::launch
