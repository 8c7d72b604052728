// What the facts about a machine mean for Forebay. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/doctor_facts.h"

namespace forebay::cli {

enum class Verdict : uint8_t {
  ok,
  note,     // nothing is wrong, but something is left unused or behaves in a way that one should know
  warning,  // works, but worse than it could, or is likely to fail later
  stop,     // would keep a job from running or from storing its sets
};
const char* to_string(Verdict verdict);

struct Finding {
  std::string topic;  // "memory", "store /scratch/st"
  Verdict verdict = Verdict::ok;
  std::string found;   // what is there
  std::string use;     // what Forebay does with it
  std::string change;  // what to do; empty if nothing is to be changed
};

// One or more findings for each part of the facts, in the order in which they are shown. `change` is empty exactly if
// the verdict is ok or note.
std::vector<Finding> judge(const Facts& facts);

// The gravest of all; ok if there are none.
Verdict gravest(std::span<const Finding> findings);

}  // namespace forebay::cli
