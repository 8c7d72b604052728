// Playing a schedule, and finding the shortest one that still fails.
#pragma once

#include <string>

#include "script.h"

namespace forebay::job::model {

struct Outcome {
  std::string fault;  // empty: all holds
  uint64_t steps = 0, restarts = 0;
};

Outcome play(const Script& script);

// What is left when commands are dropped and the job is made smaller, as long as something of the same kind fails.
Script shrunk(Script script, const std::string& fault);

}  // namespace forebay::job::model
