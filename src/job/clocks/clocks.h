// The times that bound a job, one row each: all others follow from these. Options, their help and docs/job.md come from
// here.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

namespace forebay::job {

struct TimeBound {
  std::string_view name;             // for docs/job.md
  std::string_view option;           // of `forebay run`
  std::chrono::milliseconds length;  // if the user gives none
  std::string_view bounds;           // what is done with it, for --help
  std::string_view gives;            // what else follows from it, for docs/job.md
};

namespace clocks {

inline constexpr TimeBound kPeer{
    .name = "silence",
    .option = "--peer-timeout",
    .length = std::chrono::seconds(10),
    .bounds = "Consider a peer dead after this long without a message.",
    .gives =
        "Peers send a ping every quarter of it. A new coordinator waits half of it for an answer at the address of "
        "the last one, and its whole for offers that agents owe it. A restart, or the end, waits twice as long "
        "for an agent that is not there, and an incomplete set that others know to be sealed is left after that.",
};
inline constexpr TimeBound kStall{
    .name = "patience",
    .option = "--stall-timeout",
    .length = std::chrono::seconds(120),
    .bounds = "Give a rank group that has made no progress for this long to another aggregator.",
    .gives =
        "A coordinator steps down, if another aggregator is there, when the store owes it an answer for this long, or "
        "its log cannot be written for this long; each time it has done so doubles that. One that was elected and does "
        "not begin for this long is replaced.",
};
inline constexpr TimeBound kSet{
    .name = "set",
    .option = "--set-timeout",
    .length = std::chrono::seconds(600),
    .bounds = "Wait this long for the remaining ranks of a set.",
    .gives =
        "Errors of the store, of a rank group and of an encoding are retried for this long. Agents have this long to "
        "answer an order: settle, seal, check, repair, place.",
};
inline constexpr TimeBound kNode{
    .name = "node",
    .option = "--node-timeout",
    .length = std::chrono::seconds(60),
    .bounds = "Count a node as lost when its agent has been away for this long.",
    .gives = "A spare takes its place, or the job goes on without it.",
};
inline constexpr TimeBound kStart{
    .name = "start",
    .option = "",
    .length = std::chrono::seconds(60),
    .bounds = "Wait this long for the daemons to be ready.",
    .gives = "After the loss of a node, its replacement has this long beyond the time of the node.",
};
inline constexpr TimeBound kGrace{
    .name = "grace",
    .option = "--grace",
    .length = std::chrono::seconds(30),
    .bounds = "Give the application this long to end after a signal, then kill it.",
    .gives = "",
};
inline constexpr TimeBound kRestart{
    .name = "restart",
    .option = "--restart-timeout",
    .length = std::chrono::seconds(600),
    .bounds = "Wait this long for a restart to bring the files.",
    .gives = "",
};
inline constexpr TimeBound kDrain{
    .name = "drain",
    .option = "--drain-timeout",
    .length = std::chrono::hours(1),
    .bounds = "Wait this long for the drain after the end of COMMAND.",
    .gives = "The end of an allocation shortens it.",
};
inline constexpr TimeBound kPause{
    .name = "pause",
    .option = "--relaunch-pause",
    .length = std::chrono::seconds(1),
    .bounds = "Wait this long before a relaunch; double it, up to 60 s, with each start that completes no set.",
    .gives = "",
};

}  // namespace clocks

// In the order in which docs/job.md shows them.
std::span<const TimeBound* const> all_clocks();

// "10", "0.5": seconds, for texts.
std::string seconds_text(std::chrono::milliseconds time);

// What --help says of its option: what it bounds, and its default.
std::string help_of(const TimeBound& clock);

}  // namespace forebay::job
