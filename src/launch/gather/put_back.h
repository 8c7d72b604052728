// Does what rules::plan_restore() decided: a code's directory gets back what a set has, and what would mislead the code
// is put aside.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "launch/rules/restore_plan.h"

namespace forebay::launch {

struct PutBack {
  std::string aside;               // the directory where what was in the way lies now; empty: nothing was
  std::vector<std::string> moved;  // what was put there, relative to the code's directory
  rules::ResumedCommand command;
};

// `set_directory`: the set as take_set() made it and a restart brought it. `directory`: the code's, absolute, which
// nobody writes to. `known`: what was begun there, the newest last. Nothing of the directory is removed: what is in the
// way goes to DIRECTORY/.forebay-aside/TIME.PID. What it returns is durable. Errors: corrupt or not_found, if it is no
// set of a rule; those of plan_restore() and of store::may_replace(), before anything is changed; those of the file
// system, of which some may come when a part is done: the same call again completes it.
Result<PutBack> put_back(const std::string& set_directory, const std::string& directory, const rules::Rule& rule,
                         const rules::Resume& resume, const std::vector<rules::SetId>& known);

}  // namespace forebay::launch
