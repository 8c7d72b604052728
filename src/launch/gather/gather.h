// Watches the directory that a code works in, by a rule, and copies each set that is complete into a stage, from which
// an agent drains it as any other set. The code knows nothing of it, and nothing of its directory is changed.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "fabric/hub.h"
#include "launch/rules/rule.h"

namespace forebay::launch {

struct GatherOptions {
  std::string directory, stage;        // absolute; the stage is not below the directory, or is among leave_out
  std::vector<std::string> leave_out;  // directories below it that are not looked into
  rules::Rule rule;
  std::string otherwise_named = "set";  // what a set without words and label is called
  std::function<void(fabric::Severity, const std::string&)> log;
  std::function<void()> ready;                // it takes orders from now on
  std::chrono::milliseconds least_age{5000};  // of a process of the code whose end may be that of the code
};

// Until it is asked to stop. It waits for the order that the code begins (gather_notes.h), takes what lies there then
// for input, copies sets while the code runs, and settles what is left when the code has ended. One that is started
// anew goes on from its notes. Errors: those of the directory and of the notes.
Result<void> run_gather(const GatherOptions& options, std::stop_token stop);

}  // namespace forebay::launch
