#include "cli/rule_choice.h"

#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/posix/own_code.h"
#include "cli/series.h"
#include "launch/recipes/present_files.h"
#include "launch/recipes/recipe_files.h"

namespace forebay::cli {

std::string installed_recipes() {
  return (std::filesystem::path(own_command()).parent_path() / FOREBAY_RECIPES_FROM_BIN).lexically_normal();
}

std::vector<std::string> RuleChoice::command_line() const {
  std::vector<std::string> line;
  if (!code.empty()) line.insert(line.end(), {"--code", code});
  if (!sets.empty()) line.insert(line.end(), {"--sets", sets});
  for (const auto& [name, value] : words) line.insert(line.end(), {"--let", name + "=" + value});
  return line;
}

void declare_words(Syntax& syntax, launch::rules::Words& words, const std::string& help) {
  syntax.option("--let", "NAME=VALUE", help, [&words](const std::string& text) -> Result<void> {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not NAME=VALUE", text));
    words[text.substr(0, equals)] = text.substr(equals + 1);
    return {};
  });
}

void declare_rule(Syntax& syntax, RuleChoice& choice, bool may_be_auto) {
  std::string help = "Take the recipe of this code: 'forebay recipes' lists them";
  help += may_be_auto ? "; auto: the one that COMMAND and the directory show." : ".";
  syntax.option("--code", "NAME", std::move(help), set_text(choice.code));
  syntax.option("--sets", "RULE", "Take this rule of what a set is (docs/rules.md).", set_text(choice.sets));
  declare_words(syntax, choice.words, "Give a word of the rule its value (may be repeated).");
}

Result<ChosenRule> choose_rule(const RuleChoice& choice) {
  if (choice.code.empty() == choice.sets.empty())
    return fail(ErrorKind::invalid_argument, "either --code or --sets says what a set is", {}, {},
                "'forebay recipes' lists the codes");
  if (!choice.code.empty()) {
    FOREBAY_TRY(const launch::Recipe recipe,
                launch::find_recipe(choice.code, launch::recipe_directories(installed_recipes())));
    ChosenRule chosen{.name = recipe.name,
                      .rule = {},
                      .resume = {},
                      .edit = recipe.edit,
                      .title = recipe.title,
                      .requirements = recipe.requirements,
                      .dangers = recipe.dangers,
                      .input = recipe.input};
    FOREBAY_TRY(chosen.rule, recipe.rule_with(choice.words));
    FOREBAY_TRY(chosen.resume, recipe.resume_with(choice.words));
    return chosen;
  }
  auto rule = launch::rules::parse_rule(choice.sets);
  if (!rule) {
    Error error = std::move(rule).error();
    error.what = "--sets: " + error.what;
    return std::unexpected(std::move(error));
  }
  ChosenRule chosen{.name = "set", .rule = {}, .resume = {}, .edit = {}};
  FOREBAY_TRY(chosen.rule, with_words(*rule, choice.words));
  return chosen;
}

Result<std::vector<launch::Candidate>> propose_code(const std::vector<std::string>& command,
                                                    const std::string& directory) {
  const launch::RecipeList list = launch::all_recipes(launch::recipe_directories(installed_recipes()));
  std::vector<launch::rules::Rule> rules;
  for (const launch::Recipe& recipe : list.recipes) rules.push_back(recipe.rule);
  FOREBAY_TRY(const launch::PresentFiles present, launch::present_files(directory, rules));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return launch::candidates(list.recipes, program_words(command), present.files, std::chrono::nanoseconds(now).count());
}

std::string absolute_directory(const std::string& given) {
  std::string path = std::filesystem::absolute(given.empty() ? "." : given).lexically_normal();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::string candidate_text(const launch::Candidate& candidate) {
  return fmt::format("{} ({}): {}", candidate.name, candidate.title, launch::reason_of(candidate));
}

}  // namespace forebay::cli
