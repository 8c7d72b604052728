// A program of the command: finds the verb, parses its words, runs it and turns its result into output and an exit
// code.
#pragma once

#include <span>

#include "cli/extension.h"
#include "cli/verb.h"

namespace forebay::cli {

struct Program {
  std::span<const VerbFactory> verbs;     // in the order of `forebay --help`
  std::span<const Extension> extensions;  // verbs that other programs have: the core knows all, they know none
};

// main().
int run_program(const Program& program, int argc, char** argv);

// `forebay --help`, and the same for programs (docs/json.md).
std::string command_help(const Program& program);
Result<Json> help_json(const Program& program);

}  // namespace forebay::cli
