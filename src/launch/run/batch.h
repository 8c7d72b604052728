// What a batch system says of the job that this process runs in. Pure: environment in, what to run and to read out.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "launch/run/nodes_file.h"

namespace forebay::launch {

// A variable of the environment; empty if it is not set.
using Environment = std::function<std::string(const char* name)>;

struct BatchJob {
  std::string name;                        // "Slurm job 4711"
  std::vector<std::string> hosts_command;  // prints the names of the job's nodes, a line for each
  std::string tasks_per_node;              // as parse_allocation() takes it; empty: one
  std::vector<std::string> left_command;   // prints what parse_time_left() takes
};

// Of Slurm. Nothing outside of a job, and for systems whose nodes come from a file and whose time limit is given by
// hand.
std::optional<BatchJob> batch_job(const Environment& environment);

// The nodes and how many ranks the application has on each. `tasks_per_node` is Slurm's list, in the order of the
// nodes: "2(x3),1" is 2 on each of three nodes and 1 on the next; one that is too short goes on with its last number.
// invalid_argument if either makes no sense, naming the job.
Result<Nodes> parse_allocation(const BatchJob& job, std::string_view hosts);

// The time that a job has left, as squeue prints it: [[DAYS-]HOURS:]MINUTES:SECONDS, or nothing if there is no limit
// (UNLIMITED). invalid_argument for anything else, as NOT_SET.
Result<std::optional<std::chrono::seconds>> parse_time_left(std::string_view text);

}  // namespace forebay::launch
