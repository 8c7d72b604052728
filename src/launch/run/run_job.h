// `forebay run`: starts the daemons of a job, restores, runs the application, again if it crashes, drains, and leaves
// no process behind.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "job/clocks/clocks.h"
#include "launch/run/daemons.h"
#include "launch/run/deadline.h"
#include "launch/run/helper_commands.h"
#include "launch/run/node_table.h"
#include "launch/run/relaunch.h"
#include "launch/run/sight.h"
#include "launch/run/watchdog.h"

namespace forebay::launch {

// What one node is asked to do, with what it prints.
struct RunPlan {
  std::vector<DaemonSpec> daemons;
  std::vector<std::string> application;
  NodeTable nodes;
  std::vector<std::pair<std::string, std::string>> environment;  // of the application
  uint64_t relaunches = 0;
  std::chrono::milliseconds relaunch_pause = job::clocks::kPause.length;  // as RestartTrials has it
  std::function<std::optional<std::string>()> hold;  // why it is not to be started again now; may be empty

  // Before each start: first errands, one after another, whose outputs say which others are to be done (nothing: it
  // cannot be told yet, and they are done again, while `restart_timeout` lasts; after that `is_last`), and what is to
  // be done with the application's command when these are done. Without any, nothing is restored.
  std::vector<HelperCommand> looks;
  using Restores = Result<std::optional<std::vector<HelperCommand>>>;
  std::function<Restores(const std::vector<std::string>& outputs, bool is_last, const Nodes& nodes)> restores;
  // How the application is started after that.
  struct Resumed {
    std::vector<std::string> command;  // in the place of `application`; empty: that
    std::vector<std::string> more;     // appended
    std::vector<std::pair<std::string, std::string>> environment;
  };
  // The errand that puts what was brought where the application looks for it, from the outputs of those before
  // (nothing: there is no need of one); its output is what `resumed` gets then, alone. May be empty.
  std::function<Result<std::optional<HelperCommand>>(const std::vector<std::string>& outputs)> put_back;
  std::function<Result<Resumed>(const std::vector<std::string>& outputs)> resumed;

  // Errands right before each start, and after each end of the application. May be empty.
  HelperCommand begin;
  std::function<HelperCommand(bool was_killed)> end;

  // Before each start: tells the application which nodes it has. May be empty.
  std::function<Result<void>(const Nodes& nodes)> announce;

  // What is looked after while the application runs, by what `look` prints (sight.h); `exclude` tells the coordinator
  // of a node that is lost.
  WatchOptions watch;
  HelperCommand look;
  std::function<HelperCommand(const std::string& host)> exclude;

  // Starts something on the node, as its daemons are started, that prints a text and ends; may be empty. By it a node
  // is known where nothing can be started any more, though its agent is well.
  std::function<HelperCommand(const std::string& host)> try_node;

  // The application is told to end when the time of the job is nearly over. `ask_time` prints what `time_left` reads;
  // not used if the deadline does not ask.
  Deadline deadline;
  HelperCommand ask_time;
  std::function<Result<Deadline::Left>(const std::string& output)> time_left;

  // What is to be said in the first minute of the first start, each text once; called by the run's own thread. May be
  // empty.
  std::function<std::vector<std::string>()> remarks;

  // A set that the application cannot restart from: `list` prints what `has_other` reads, whether the job has another
  // set to restart from; `reject` sets it aside. Not done where `list` is empty.
  HelperCommand list;
  std::function<bool(const std::string& listed, const Sight::Source& set)> has_other;
  std::function<HelperCommand(const Sight::Source& set, const std::string& reason)> reject;

  HelperCommand drain;  // ends the daemons when everything is drained; its output is passed on

  std::chrono::milliseconds start_timeout = job::clocks::kStart.length;      // for the daemons to be ready
  std::chrono::milliseconds restart_timeout = job::clocks::kRestart.length;  // for an errand of a restart
  std::chrono::milliseconds drain_timeout =
      job::clocks::kDrain.length;                                // for all of the drain after the application's end
  std::chrono::milliseconds grace = job::clocks::kGrace.length;  // for the application to end when it was told to
};

struct RunReport {
  Ending ending;              // of the application's last start
  std::string ended_because;  // why it was ended then; empty: it has ended by itself, or was told to by a signal
  std::vector<std::string> lost_nodes;
  std::vector<std::string> retired_nodes;  // where nothing could be started any more; their agents stayed
  uint64_t launches = 0;                   // 0: it was never started
  std::optional<std::string> drain;        // what the errand has printed, if it succeeded
  std::chrono::milliseconds drain_time{0};
  size_t daemon_deaths = 0;
  int told_to_end = 0;       // the signal, or 0
  bool out_of_time = false;  // the deadline has told it to end
  bool left = false;         // a second signal: nothing was waited for
};

// Signals: the first SIGINT, SIGTERM or SIGHUP is passed to the application, which has `grace` to end; then what is
// complete is drained. A second one ends everything at once. An application that hangs, or of which a node is lost, is
// ended; for a node that is lost, or where nothing starts any more, a spare takes over, if it is started again. Every
// process that was started, and every process that these left behind, is gone when this returns. Errors: those of
// starting the daemons, the application or an errand; the rest is told by `say`. The calling thread must be the only
// one, and must live on until then.
Result<RunReport> run_job(const RunPlan& plan, const Say& say);

}  // namespace forebay::launch
