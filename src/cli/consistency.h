// verify --consistency: whether what ranks wrote goes together.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.h"
#include "view/source/run.h"

namespace forebay::cli {

struct ConsistencyWish {
  std::string path;  // a store, or a file that grows
  view::RunOptions opening;
  bool values = false;                // compare values where blocks overlap
  std::vector<std::string> optional;  // as CheckOptions has them
};

// Prints what does not go together, and how much was looked at. damaged if anything does not.
Result<ExitCode> print_consistency(const ConsistencyWish& wish, const Console& console);

}  // namespace forebay::cli
