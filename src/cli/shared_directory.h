// Whether what a code writes on other nodes can be gathered on this one (decision 0059).
#pragma once

#include <functional>
#include <string>

#include "cli/run_plan.h"

namespace forebay::cli {

// Makes an empty file in the directory that the job gathers, looks for it on another of its nodes, and removes it. One
// node speaks for all others. Nothing is done where all nodes are this one, or nothing is gathered. invalid_argument if
// that node has a directory of its own; if that cannot be found out, `say` gets a warning. Waits for the node's answer,
// half a minute at most.
Result<void> check_shared_directory(const RunOptions& options, const std::function<void(const std::string&)>& say);

}  // namespace forebay::cli
