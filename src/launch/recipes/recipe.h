// A recipe: what the checkpoint sets of a code are, and how it is resumed from them (docs/rules.md, "Recipes"). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "launch/recipes/code_input.h"
#include "launch/rules/resume.h"
#include "launch/rules/rule.h"

namespace forebay::launch {

struct Recipe {
  std::string name;    // of its file
  std::string path;    // likewise
  std::string title;   // the code, in words
  rules::Rule rule;    // as the file has it: the words of `words` are not replaced yet
  rules::Words words;  // what words of the rule are, if the user does not say otherwise
  rules::Resume resume;
  std::optional<CodeInput> input;         // nothing: no file that the command names matters
  std::vector<std::string> programs;      // what its programs are called: "lmp_*", "*Foam -fileHandler collated"
  std::vector<std::string> requirements;  // of the input, the command or the stage
  std::vector<std::string> dangers;
  std::string edit;    // what has to be changed in the input before the code resumes; empty: nothing
  std::string ranks;   // whether a set can be read by another number of ranks: "any", "same", "unknown"
  std::string seen;    // where this is from: "tried", "sources", "documents", "reports"; empty: not said
  std::string source;  // likewise, in detail

  // The rule and the resume with `words` and, instead of them, `own` replaced. invalid_argument as of
  // rules::with_words().
  Result<rules::Rule> rule_with(const rules::Words& own) const;
  Result<rules::Resume> resume_with(const rules::Words& own) const;
};

// A name is of letters, digits, '-' and '_'.
bool is_recipe_name(std::string_view name);

// Of a TOML file: `text`, which lies in `path`. invalid_argument, with the path, the line, what is wrong there and what
// was expected. Everything is checked: keys, the rule, the texts of the resume, and the words that they use.
Result<Recipe> parse_recipe(std::string_view text, std::string_view name, const std::string& path);

}  // namespace forebay::launch
