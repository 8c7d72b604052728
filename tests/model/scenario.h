// Scenarios: text files with commands, and below them all that these caused. A reader learns the protocol from them,
// and a changed behaviour is a change of the text.
#pragma once

#include <string>
#include <vector>

#include "script.h"

namespace forebay::job::model {

// Prose, then blocks of commands, "----", and what follows from them up to an empty line.
struct Scenario {
  struct Block {
    std::string prose;                  // before it: lines that begin with '#', and empty ones
    std::vector<std::string> commands;  // as they are written
    std::string output;
  };
  std::vector<Block> blocks;
  std::string epilogue;
};

Result<Scenario> read_scenario(const std::string& path);
Script script_of(const Scenario& scenario);

// Plays the file. With `update` what happens is written to it; else every difference is printed. Whether it is as the
// file says, and all invariants hold.
bool run_scenario(const std::string& path, bool update);

}  // namespace forebay::job::model
