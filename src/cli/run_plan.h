// What `forebay run` starts where: command lines of the same program.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/rule_choice.h"
#include "job/clocks/clocks.h"
#include "launch/run/deadline.h"
#include "launch/run/launcher.h"
#include "launch/run/nodes_file.h"
#include "launch/run/run_job.h"

namespace forebay::cli {

// How a code that knows nothing of Forebay is watched and resumed.
struct Gathering {
  RuleChoice choice;
  std::string directory;                     // absolute: where the code works
  std::string restore_to, restart_command;   // as the options say; empty: as the recipe says
  std::optional<launch::CodeInput> input{};  // a restart runs a copy of it
};

struct RunOptions {
  std::vector<std::string> command;
  std::string store, stage, rendezvous, logs;  // absolute
  std::string series;
  launch::Nodes nodes;                        // of the application, and the spares after them
  uint64_t spares = 0;                        // that are spares
  std::vector<std::string> aggregator_hosts;  // one for each aggregator
  launch::Launcher launcher;
  std::vector<std::string> agent_words, aggregator_words;
  std::map<std::string, std::string> failure_groups;  // by host, as `forebay agent` takes them
  std::string restart_args;                           // empty: the application restarts by itself, or not at all
  std::optional<Gathering> gathering;                 // of a code whose sets a rule finds
  uint64_t relaunches = 0;
  std::chrono::milliseconds relaunch_pause = job::clocks::kPause.length;
  std::function<std::optional<std::string>()> hold;  // as launch::RunPlan has it
  bool munge = false;
  std::chrono::milliseconds hang_timeout{0}, set_interval{0};  // 0: never
  std::chrono::milliseconds node_timeout = job::clocks::kNode.length;
  launch::Deadline deadline;
  std::vector<std::string> left_command;  // prints what launch::parse_time_left() reads; for a deadline that asks
  std::chrono::milliseconds grace = job::clocks::kGrace.length, restart_timeout = job::clocks::kRestart.length,
                            drain_timeout = job::clocks::kDrain.length;
};

// invalid_argument if there are too many spares. `options` outlives the plan.
Result<launch::RunPlan> make_plan(const RunOptions& options);

// Whether a file of nodes means this node by that name.
bool is_own(const std::string& host);

// Whether all daemons are started on this node: nobody comes from another one.
bool is_on_this_node(const RunOptions& options);

// What the job is called: by the batch system, or by host, process and time. A name of one path component.
std::string job_id();

}  // namespace forebay::cli
