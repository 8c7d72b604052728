// What becomes of a job whose application or daemons have ended. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launch/run/sight.h"

namespace forebay::launch {

// How a process ended.
struct Ending {
  int exit_code = 0;
  int signal = 0;  // that ended it, or 0

  static Ending of(int wait_status);  // as waitpid() has it
  bool good() const { return exit_code == 0 && signal == 0; }
  int as_exit_code() const { return signal != 0 ? 128 + signal : exit_code; }  // as shells do
  std::string text() const;                                                    // "exit code 3", "signal 9 (Killed)"
};

// Whether an application that ended so is to be started again: it has crashed or was ended because it hung or a node of
// it was lost (`was_ended`), nobody wants the job to end, and some of the relaunches are left.
bool should_relaunch(const Ending& ending, bool was_ended, bool told_to_end, uint64_t left);

// One start of the application, after its end.
struct Attempt {
  Sight::Source from;           // the set that it restarted from; empty: none, or it is not known
  bool completed_a_set = true;  // true also where it is not known
  bool ended_by_itself = true;  // false: a node was lost
  bool got_answer = true;       // ranks had their answer where to begin, or a set; true also where it is not known
};

// From what was seen before its restart and after its end; nothing: no coordinator answered.
Attempt attempt_between(const std::optional<Sight>& before, const std::optional<Sight>& after, bool ended_by_itself);

// Which pause comes before the next attempt, and whether the set that the last ones restarted from is to blame: a
// checkpoint that the application cannot read is not tried for ever.
class RestartTrials {
 public:
  // `pause`: before an attempt that follows one which completed a set.
  explicit RestartTrials(std::chrono::milliseconds pause) : first_pause_(pause), pause_(pause) {}

  struct Verdict {
    std::chrono::milliseconds pause{0};
    bool blames_set = false;  // kMostAttempts that restarted from the same set, one after another, completed none
  };
  // To be called once per attempt, when it has ended.
  Verdict ended(const Attempt& attempt);

  static constexpr size_t kMostAttempts = 2;
  static constexpr std::chrono::milliseconds kLongestPause{60'000};

 private:
  std::chrono::milliseconds first_pause_,
      pause_;  // pause_: before the next attempt; doubles with each that completes none
  Sight::Source from_;
  size_t attempts_ = 0;  // that restarted from it, one after another, and completed no set
};

// Nodes whose agents are well and where nothing can be started any more, such as those that a batch system has closed:
// each start of the application dies at once, and would use up an attempt.
class NodeTrials {
 public:
  struct Verdict {
    bool blames_nodes = false;        // the attempt is theirs, and uses up nothing
    std::vector<std::string> retire;  // kMostStarts died on them before a rank had its answer
  };
  // To be called once per attempt, when it has ended, with those of `nodes` in use where nothing could be started then,
  // and with how many of them spares can replace. If nothing starts on any of several nodes, it is this side that is
  // cut off, and no node is to blame.
  Verdict ended(const Attempt& attempt, const std::vector<std::string>& closed, size_t nodes, size_t replaceable);

  static constexpr size_t kMostStarts = 2;

 private:
  std::map<std::string, size_t> starts_;  // that died, by node; since the last rank had its answer
};

// Daemons that die are started again, soon at first, then later, and no more when one dies as fast as it is started.
class Revival {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // How long to wait before the next start; nothing: it has died too often. To be called once per death.
  std::optional<std::chrono::milliseconds> after_death(Time now);

  static constexpr size_t kMostDeaths = 5;  // within kWindow
  static constexpr std::chrono::seconds kWindow{120};

 private:
  std::deque<Time> deaths_;
};

}  // namespace forebay::launch
