// forebay recipes: what the checkpoint sets of codes are, and what a rule would take in a directory.
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/look_text.h"
#include "cli/recipe_text.h"
#include "cli/rule_choice.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/verb.h"
#include "launch/recipes/look.h"
#include "launch/recipes/present_files.h"
#include "launch/recipes/recipe_files.h"

namespace forebay::cli {
namespace {

constexpr VerbText kRecipesText = {
    .name = "recipes",
    .summary = "list what is known of codes' checkpoints, or try a rule on a directory",
    .usage = "[NAME] [OPTIONS] | --match NAME DIR | --match --sets RULE DIR",
    .description =
        "A recipe says of a code which files are a checkpoint set, when a set is complete,\n"
        "and how the code is resumed from it. Without NAME: all recipes. With NAME: what it\n"
        "says, and in which file; recipes in $XDG_CONFIG_HOME/forebay/recipes come before\n"
        "those of this installation. docs/rules.md has the language.\n"
        "With --match, what the recipe or RULE would take for sets in DIR, what would be\n"
        "stored beside them, and what is left alone. Nothing is changed.\n",
    .examples =
        "  forebay recipes\n"
        "  forebay recipes gromacs\n"
        "  forebay recipes --match openfoam cavity\n"
        "  forebay recipes --match espresso run --let outdir=tmp\n"
        "  forebay recipes --match --sets 'dump_{set}.{rank}; done same quiet 5s' run\n",
};

class Recipes final : public Verb {
 public:
  const VerbText& text() const override { return kRecipesText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    syntax.flag("--match", match_, "Say what would be taken for sets in DIR.");
    syntax.option("--sets", "RULE", "With --match: try this rule, not a recipe.", set_text(rule_));
    declare_words(syntax, words_, "With --match: give a word of the rule its value (may be repeated).");
  }

  Result<ExitCode> run(const Console& console) override {
    if (match_) {
      FOREBAY_CHECK(match(console));
      return ExitCode::ok;
    }
    if (!rule_.empty() || !words_.empty())
      return fail(ErrorKind::invalid_argument, "--sets and --let need --match", {}, {}, "add --match and a directory");
    if (operands_.size() > 1)
      return fail(ErrorKind::invalid_argument, fmt::format("unexpected '{}'", operands_[1]), {}, {},
                  "a directory follows --match NAME");
    const auto directories = launch::recipe_directories(installed_recipes());
    if (operands_.empty()) {
      list(launch::all_recipes(directories), console);
      return ExitCode::ok;
    }
    FOREBAY_TRY(const launch::Recipe recipe, launch::find_recipe(operands_[0], directories));
    if (console.json)
      print_json(json_recipe(recipe));
    else
      fmt::print("{}", recipe_text(recipe));
    return ExitCode::ok;
  }

 private:
  static void list(const launch::RecipeList& list, const Console& console) {
    for (const Error& fault : list.faults) warn(fault.message());
    if (console.json) {
      Json recipes = Json::array();
      for (const launch::Recipe& recipe : list.recipes)
        recipes.push_back({{"name", recipe.name},
                           {"title", json_text(recipe.title)},
                           {"restart_ranks", recipe.ranks},
                           {"seen", recipe.seen.empty() ? Json() : Json(recipe.seen)},
                           {"path", json_text(recipe.path)}});
      return print_json({{"recipes", std::move(recipes)}});
    }
    Table table({{"NAME"}, {"RANKS"}, {"FROM"}, {"CODE"}});
    for (const launch::Recipe& recipe : list.recipes)
      table.add({recipe.name, recipe.ranks, recipe.seen.empty() ? "-" : recipe.seen, printable(recipe.title)});
    table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
  }

  Result<void> match(const Console& console) const {
    const size_t needed = rule_.empty() ? 2 : 1;
    if (operands_.size() != needed)
      return fail(ErrorKind::invalid_argument,
                  rule_.empty() ? "--match takes the name of a recipe and a directory" : "--sets takes a directory", {},
                  {}, rule_.empty() ? "forebay recipes --match NAME DIR" : "forebay recipes --match --sets RULE DIR");
    FOREBAY_TRY(const ChosenRule chosen, choose_rule({rule_.empty() ? operands_[0] : "", rule_, words_}));
    const launch::rules::Rule& rule = chosen.rule;
    const std::string& directory = operands_.back();
    FOREBAY_TRY(const launch::PresentFiles present, launch::present_files(directory, rule));
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const launch::Look look = launch::look(rule, present.files, std::chrono::nanoseconds(now).count());
    if (console.json) {
      Json document = {{"directory", json_text(directory)}, {"rule", json_text(print_rule(rule))}};
      document.update(json_look(look));
      print_json(document);
      return {};
    }
    fmt::print("{}\n\n", printable(print_rule(rule)));
    print_look(look);
    return {};
  }

  std::vector<std::string> operands_;
  bool match_ = false;
  std::string rule_;
  launch::rules::Words words_;
};

}  // namespace

std::unique_ptr<Verb> make_recipes() { return std::make_unique<Recipes>(); }

}  // namespace forebay::cli
