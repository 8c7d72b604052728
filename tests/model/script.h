// What a run of the model does: a job and commands to it, as lines of text. The same lines are a schedule that a seed
// makes, the shortest one that fails, and the commands of a scenario (docs/scenarios).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "job/coordinator/coordinator_options.h"

namespace forebay::job::model {

inline constexpr uint32_t kMostSets = 9;

// The line "job KEY VALUE ...".
struct Setup {
  uint32_t nodes = 3, spares = 0, ranks = 1;  // ranks on each node
  std::string scheme = "none";                // as --redundancy has it
  uint32_t sets = 3;                          // that the application writes, one every `interval` seconds
  uint32_t keep = 1, flush = 1;               // --keep, --flush-every
  double interval = 2;
  uint32_t starts = 12;  // of the application
  uint64_t seed = 0;     // of times on the wire; 0: each message takes a millisecond
  bool waits = false;    // ranks wait for each set (forebay_wait())
};

// One line. docs/scenarios/README.md lists the words.
struct Command {
  std::string verb;
  std::vector<std::string> words;
  double seconds() const;
};

struct Script {
  Setup setup;
  std::vector<Command> commands;
};

Result<Setup> parse_setup(std::string_view line);
Result<Command> parse_command(std::string_view line);
std::string to_text(const Setup& setup);
std::string to_text(const Command& command);
std::string to_text(const Script& script);

// The schedule of a seed.
Script random_script(uint64_t seed);

}  // namespace forebay::job::model
