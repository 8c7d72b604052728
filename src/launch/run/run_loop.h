// What happens while `forebay run` waits for something: processes end, signals come, the job is looked at, and its time
// runs out. run_job.cc has the course of a run; here is what may come between.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/error.h"
#include "launch/run/application.h"
#include "launch/run/events.h"
#include "launch/run/helper_commands.h"
#include "launch/run/overseer.h"
#include "launch/run/run_job.h"

namespace forebay::launch {

// Used by one thread. It owns all processes that a run starts.
class RunLoop {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  // `plan` and `say` outlive it.
  RunLoop(const RunPlan& plan, const Say& say, Events events);

  // Handles what happens until `is_done`, the time `until`, or a second signal. Whether it is done.
  template <class Condition>
  bool pump(const Condition& is_done, Time until) {
    while (!is_done()) {
      if (left_ || Clock::now() >= until) return false;
      handle(std::min(until, daemons_.next_tick()));
    }
    return true;
  }
  // Handles what has happened, or the first thing that happens until then.
  void handle(Time until);

  // Runs helpers to their end, side by side: what they have printed; empty texts if the run is told to end before.
  // Errors of starting them, or of one that ended badly; timeout.
  Result<std::vector<std::string>> go(const std::vector<HelperCommand>& helpers, std::chrono::milliseconds patience,
                                      bool even_when_ending = false);

  // As go(), and what has not ended in time has an empty text as well. All of them may fail.
  Result<std::vector<std::string>> go_for(const std::vector<HelperCommand>& helpers,
                                          std::chrono::milliseconds patience);

  // The application starts, or goes on after this process did not run: nobody has looked after it.
  Result<void> launch(std::vector<std::string> words, std::vector<std::pair<std::string, std::string>> environment,
                      bool may_start_again);
  // From now on the job's time does not end it: the time when it does, Time::max() if it does not.
  Time stop_deadline();

  // The first signal, or the deadline, tells the run to end (the number; 0: nobody has); a second one to leave at once.
  bool is_ending() const { return told_to_end_ != 0; }
  int told_to_end() const { return told_to_end_; }
  bool is_out_of_time() const { return out_of_time_; }
  bool left() const { return left_; }

  // Why the application is to be ended: it hangs, or a node that a spare can replace is lost; empty: it is not.
  const std::string& end_because() const { return end_because_; }
  bool end_because_of_node() const { return node_is_lost_; }
  const Ending& ending() const { return ending_; }  // of the application's last start

  // Nodes in use that are lost, by the newest look. forget_lost(): these are seen to, and the others are found anew.
  const std::vector<std::string>& lost() const { return lost_; }
  void forget_lost();
  // Whether all nodes in use were heard of since then.
  bool all_heard_since(Time since) const;

  // Processes that the application started, and that did not end with it.
  std::vector<pid_t> orphans() const;
  // No helper and no application any more; the daemons stay.
  void end_helpers();

  Daemons& daemons() { return daemons_; }
  Overseer& overseer() { return overseer_; }
  Application& application() { return application_; }
  NodeTable& nodes() { return nodes_; }

 private:
  void begin_watch();
  void observe(Overseer::Seen seen, Time now);
  void judge_loss(const std::string& host);
  void say_whether_sets_come(const std::string& no_set);
  void say_whether_store_fills(const std::string& store_fills);
  void say_once(const std::string& text);
  Time next_remarks() const;
  void say_remarks(Time now);
  void watch_time(Time now);
  void received(const Events::Signal& signal);
  void pause();

  const RunPlan& plan_;
  const Say& say_;
  Events events_;
  Daemons daemons_;
  HelperCommands helpers_;
  NodeTable nodes_;
  Overseer overseer_;
  ProgressWatch progress_;
  NodeWatch node_watch_;
  Overseer::Seen seen_;            // the newest
  std::vector<std::string> lost_;  // nodes in use, by the newest
  std::vector<std::string> said_;
  bool sets_come_ = true, store_has_room_ = true;  // by what was said last
  size_t remarks_ = 0;                             // how often they were asked for
  Deadline deadline_;
  HelperCommands clock_;  // asks how much time the job has left
  bool asks_time_ = false;
  Application application_;
  bool may_start_again_ = false, node_is_lost_ = false;  // node_is_lost_: that is why it was ended
  Time launched_{};
  Ending ending_;
  std::string end_because_;
  int told_to_end_ = 0;
  bool out_of_time_ = false, left_ = false;
};

}  // namespace forebay::launch
