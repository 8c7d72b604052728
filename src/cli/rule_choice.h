// Which rule says what a checkpoint set of a code is: a recipe's (--code), or the user's own (--sets).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/syntax.h"
#include "launch/recipes/candidates.h"
#include "launch/recipes/recipe.h"

namespace forebay::cli {

struct RuleChoice {
  std::string code, sets;      // --code, --sets; empty: not given
  launch::rules::Words words;  // --let

  bool is_given() const { return !code.empty() || !sets.empty(); }
  // The same as words of a command line.
  std::vector<std::string> command_line() const;
};

// --code, --sets and --let.
void declare_rule(Syntax& syntax, RuleChoice& choice, bool may_be_auto);

// --let alone, with what it goes with.
void declare_words(Syntax& syntax, launch::rules::Words& words, const std::string& help);

struct ChosenRule {
  std::string name;  // of the recipe, or "set"
  launch::rules::Rule rule;
  launch::rules::Resume resume;                        // of a recipe; nothing else is known of how a code is resumed
  std::string edit;                                    // as Recipe::edit has it
  std::string title{};                                 // likewise
  std::vector<std::string> requirements{}, dangers{};  // likewise
  std::optional<launch::CodeInput> input{};            // likewise
};

// invalid_argument if none or both are given, or the rule is wrong; what launch::find_recipe() returns.
Result<ChosenRule> choose_rule(const RuleChoice& choice);

inline constexpr std::string_view kAutoCode = "auto";  // of --code: the command and the directory say which

// Which recipes may be meant by `command`, which runs in `directory` (launch/recipes/candidates.h).
Result<std::vector<launch::Candidate>> propose_code(const std::vector<std::string>& command,
                                                    const std::string& directory);

// "gromacs: the program 'gmx_mpi'", or of several lines one for each.
std::string candidate_text(const launch::Candidate& candidate);

// The directory that a code works in, as an option has it: absolute, without a slash at its end; empty: the working
// directory.
std::string absolute_directory(const std::string& given);

// Where the recipes of this installation lie.
std::string installed_recipes();

}  // namespace forebay::cli
