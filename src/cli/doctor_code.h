// What a code's directory shows to a rule: the part of `forebay doctor` for --code and --sets.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/doctor_judge.h"
#include "cli/json.h"
#include "cli/rule_choice.h"
#include "launch/recipes/look.h"

namespace forebay::cli {

struct CodeQuestion {
  RuleChoice choice;
  std::vector<std::string> command;  // empty: not given
  std::string directory, stage;      // absolute
};

struct CodeLook {
  std::vector<launch::Candidate> candidates;  // of --code auto
  ChosenRule chosen;                          // name empty: it is not clear which
  std::string directory;
  launch::Look look;
  std::string from;                  // the set of `restart`, as its name is shown; empty: there is none yet
  std::vector<std::string> restart;  // the command at a restart; empty: no command was given
  std::vector<Finding> findings;     // about the code
};

// Reads the directory; changes nothing. Errors: those of the rule or recipe, and of the directory.
Result<CodeLook> look_at_code(const CodeQuestion& question);

void print_code(const CodeLook& found);
Json json_code(const CodeLook& found);

}  // namespace forebay::cli
