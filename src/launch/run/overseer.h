// Looks at a running job now and then, and tells the coordinator which nodes the job goes on without.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "launch/run/helper_commands.h"
#include "launch/run/sight.h"
#include "launch/run/watchdog.h"

namespace forebay::launch {

// Used by one thread, which waits for its pipes and processes as for those of HelperCommands.
class Overseer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `look` prints what parse_sight() takes; `exclude` tells the coordinator of one node. The shortest of the times of
  // `options` says how often it looks; without a command there are no looks.
  Overseer(const WatchOptions& options, HelperCommand look,
           std::function<HelperCommand(const std::string& host)> exclude);

  bool is_needed() const { return !look_.words.empty(); }

  // A node that the coordinator is to know as excluded: it is told so again and again, for another one may lead.
  void exclude(const std::string& host) { excluded_.push_back(host); }
  bool knows_excluded() const;  // all of them, as of the newest sight

  void look_soon() { next_ = {}; }
  void hurry(bool does) { is_hurried_ = does; }  // looks twice a second, or less often again
  void tick(Time now);
  Time next_tick() const;
  std::vector<int> pipes() const;
  void readable(int fd);
  bool ended(const Ended& process);
  bool owns(pid_t pid) const;
  void end();  // no look any more

  // What the newest look has shown, once; an empty one if nobody has answered.
  struct Seen {
    std::optional<Sight> sight;
    Time at{};  // it is not older
  };
  std::optional<Seen> take_seen();

 private:
  void finish(Time now);
  void start(const HelperCommand& errand, Time now);

  HelperCommand look_;
  std::function<HelperCommand(const std::string& host)> exclude_;
  std::chrono::milliseconds interval_{0};
  std::vector<std::string> excluded_;
  HelperCommands helpers_;
  bool is_looking_ = false, is_telling_ = false, is_over_ = false, is_hurried_ = false;
  Time started_{}, next_{};
  std::optional<Seen> seen_;
  std::optional<Sight> newest_;
};

}  // namespace forebay::launch
