#include "launch/run/phases.h"

#include <array>

namespace forebay::launch {
namespace {

using Step = Transition<RunPhase, RunEvent>;

constexpr std::array kRun = {
    Step{RunPhase::starting, RunEvent::ready, RunPhase::restoring,
         "agents and aggregators are there: what the application is to find in its place is brought"},
    Step{RunPhase::restoring, RunEvent::ready, RunPhase::running, "the application is started"},
    Step{RunPhase::running, RunEvent::ended, RunPhase::judging,
         "by itself, or since it hung, a node was lost, a signal came or its time was nearly over; what it left "
         "running is ended"},
    Step{RunPhase::judging, RunEvent::again, RunPhase::replacing,
         "it has failed, and a relaunch is left; where nodes are to blame on which nothing starts, none is used up"},
    Step{RunPhase::replacing, RunEvent::ready, RunPhase::pausing,
         "spares have taken the places of nodes that are lost or retired; a set from which it came no further is set "
         "aside"},
    Step{RunPhase::pausing, RunEvent::ready, RunPhase::restoring, "the pause is over"},
    Step{RunPhase::restoring, RunEvent::done, RunPhase::draining,
         "no start follows: it ended well, the run is to end, no relaunch is left, or no spare is",
         RunPhase::replacing},
    Step{RunPhase::starting, RunEvent::left, RunPhase::ending,
         "nothing was started, or a second signal came: nothing is waited for", RunPhase::replacing},
    Step{RunPhase::starting, RunEvent::failed, RunPhase::ending,
         "daemons, the application or what it restarts from cannot be had: `run` ends with that error",
         RunPhase::replacing},
    Step{RunPhase::draining, RunEvent::drained, RunPhase::ending,
         "what is due is stored, or the time for that is over"},
    Step{RunPhase::ending, RunEvent::gone, RunPhase::over,
         "no process is left; the exit code is the application's, 75 if its time was over, or 11 if it ended well and "
         "its newest set is not stored"},
};

}  // namespace

std::span<const Step> run_transitions() { return kRun; }

std::string_view name_of(RunPhase phase) {
  constexpr std::array<std::string_view, 9> kNames = {"starting", "restoring", "running", "judging", "replacing",
                                                      "pausing",  "draining",  "ending",  "over"};
  return kNames[static_cast<size_t>(phase)];
}

std::string_view name_of(RunEvent event) {
  constexpr std::array<std::string_view, 8> kNames = {"ready", "ended",  "again",   "done",
                                                      "left",  "failed", "drained", "gone"};
  return kNames[static_cast<size_t>(event)];
}

}  // namespace forebay::launch
