#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include "launch/recipes/look.h"
#include "launch/recipes/present_files.h"
#include "launch/recipes/recipe_files.h"
#include "launch/rules/test_rows.h"

namespace forebay::launch {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kInstalled = FOREBAY_SOURCE_DIR "/recipes";

std::string fault_of(std::string_view text) {
  const auto recipe = parse_recipe(text, "x", "/r/x.toml");
  return recipe ? "" : recipe.error().message();
}

class RecipeFiles : public testing::Test {
 protected:
  RecipeFiles() { fs::create_directories(directory_); }
  ~RecipeFiles() override { fs::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) {
    const fs::path path = directory_ + "/" + name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  const std::string directory_ = fs::temp_directory_path() / ("forebay-recipes-" + std::to_string(::getpid()));
};

TEST(Recipes, AllCanBeReadAndAreMany) {
  const RecipeList list = all_recipes({kInstalled});
  for (const Error& fault : list.faults) ADD_FAILURE() << fault.message();
  EXPECT_GE(list.recipes.size(), 60u);
  for (const Recipe& recipe : list.recipes) {
    SCOPED_TRACE(recipe.name);
    EXPECT_FALSE(recipe.requirements.empty());
    EXPECT_FALSE(recipe.seen.empty());
    EXPECT_FALSE(recipe.source.empty());
    EXPECT_TRUE(recipe.rule_with({}));
    EXPECT_TRUE(recipe.resume_with({}));
    EXPECT_TRUE(recipe.resume.is_in_place || !recipe.resume.args.empty() || !recipe.edit.empty());
  }
}

TEST(Recipes, EachFulfilsTheRowsOfItsCode) {
  const auto rows = rules::test::read_rows(FOREBAY_SOURCE_DIR "/src/launch/rules/rows.txt");
  std::set<std::string> tested;
  for (const rules::test::Row& row : rows.rows) {
    SCOPED_TRACE(row.code + "." + row.number + ": " + row.events);
    if (row.code == "whole-dir" || row.code == "order") continue;  // rules that are no code's
    const auto recipe = find_recipe(row.code, {kInstalled});
    ASSERT_TRUE(recipe) << recipe.error().message();
    rules::test::Play play(*recipe->rule_with({}));
    play.run(row.events);
    EXPECT_EQ(row.sets, play.sets());
    for (const std::string& path : row.left) EXPECT_TRUE(play.is_left(path)) << path;
    tested.insert(row.code);
  }
  for (const Recipe& recipe : all_recipes({kInstalled}).recipes)
    EXPECT_TRUE(tested.contains(recipe.name)) << recipe.name;
}

// CP2K is not run here: at least the words are those that its sources take.
TEST(Recipes, OfCp2kNamesTheRestartFileByASecondI) {
  const auto recipe = find_recipe("cp2k", {kInstalled});
  ASSERT_TRUE(recipe) << recipe.error().message();
  const rules::StoredSet set{.id = {.series = {{"p", "w"}}, .label = {}},
                             .members = {{"w-1.restart", 9, ""}, {"w-RESTART.wfn", 9, ""}}};
  const auto made = rules::resumed_command(*recipe->rule_with({}), *recipe->resume_with({}), "/case", set);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_TRUE(made->command.empty());
  EXPECT_THAT(made->args, testing::ElementsAre("-i", "/case/w-1.restart"));
}

constexpr std::string_view kGood = R"(title = "A code"
rule = """
  {out}/chk{set}/**;
  done renamed"""
[words]
out = "run"
[resume]
place = true
args = ["-r", "{path}", "{out}"]
)";

TEST(Recipes, HaveTheirWordsReplaced) {
  const auto recipe = parse_recipe(kGood, "x", "/r/x.toml");
  ASSERT_TRUE(recipe) << recipe.error().message();
  EXPECT_EQ("run/chk{set}/**; done renamed", print_rule(*recipe->rule_with({})));
  EXPECT_EQ("a/b/chk{set}/**; done renamed", print_rule(*recipe->rule_with({{"out", "a/b"}})));
  EXPECT_EQ("a/b", print_template(recipe->resume_with({{"out", "a/b"}})->args[2]));
  EXPECT_THAT(recipe->rule_with({{"case", "a"}}).error().message(), HasSubstr("the rule has no word {case}"));
}

TEST(Recipes, SayWhereTheyAreWrong) {
  const std::string good(kGood);
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return fault_of(text);
  };
  EXPECT_EQ("", fault_of(good));
  EXPECT_THAT(with("title", "titel"), HasSubstr("/r/x.toml: line 1: 'titel' is no key here"));
  EXPECT_THAT(with("title = \"A code\"", ""), HasSubstr("there is no 'title'"));
  EXPECT_THAT(with("\"A code\"", "7"), HasSubstr("line 1: 'title' is a text"));
  EXPECT_THAT(with("chk{set}", "chk{set"), HasSubstr("line 2: 'rule': line 1, column 12: '{' has no '}'"));
  EXPECT_THAT(with("done renamed", "done soon"), HasSubstr("line 2: 'rule': line 2, column 8: 'soon' is no condition"));
  EXPECT_THAT(with("out = \"run\"", "case = \"run\""), HasSubstr("'words': the rule has no word {case}"));
  EXPECT_THAT(with("out = \"run\"", "out = \"/run\""), HasSubstr("'words': column 1: a pattern begins with '/'"));
  EXPECT_THAT(with("place = true", "place = 3"), HasSubstr("line 8: 'place' is true, false, or"));
  EXPECT_THAT(with("place = true", "plaec = true"), HasSubstr("line 8: 'plaec' is no key here"));
  EXPECT_THAT(with("{path}", "{paht}"), HasSubstr("'{paht}' uses {paht}, which the rule does not have there"));
  EXPECT_THAT(with("{path}", "{path"), HasSubstr("line 9: 'args': column 1: '{' has no '}'"));
  EXPECT_THAT(with("place = true", "as = [\"a b\"]"), HasSubstr("line 8: 'as': 'a b' is not of the form"));
  EXPECT_THAT(with("place = true", "aside = [\"a\"]"), HasSubstr("need 'place'"));
  EXPECT_THAT(with("place = true", "give = 2"), HasSubstr("line 8: 'give' is no key here"));
  EXPECT_THAT(with("[words]", "ranks = \"some\"\n[words]"),
              HasSubstr("line 5: 'ranks' is one of any, same, unknown, and not 'some'"));
  EXPECT_THAT(with("[words]", "[words"), HasSubstr("/r/x.toml: line 5: "));
  EXPECT_THAT(with("[resume]", "[resmue]"), HasSubstr("'resmue' is no key here"));
  EXPECT_THAT(with("place = true", "env = { \"A B\" = \"x\" }"), HasSubstr("'A B' is no name of a variable"));
}

TEST_F(RecipeFiles, OfTheUserComeFirst) {
  write("forebay/recipes/gromacs.toml", std::string(kGood));
  write("forebay/recipes/mine.toml", std::string(kGood));
  write("forebay/recipes/not mine.toml", "x");
  write("forebay/recipes/notes.txt", "x");
  ::setenv("XDG_CONFIG_HOME", directory_.c_str(), 1);
  const auto directories = recipe_directories(kInstalled);
  ::unsetenv("XDG_CONFIG_HOME");
  EXPECT_THAT(directories, ElementsAre(directory_ + "/forebay/recipes", kInstalled));
  EXPECT_EQ("A code", find_recipe("gromacs", directories)->title);
  EXPECT_EQ(directory_ + "/forebay/recipes/mine.toml", find_recipe("mine", directories)->path);
  EXPECT_EQ("SW4", find_recipe("sw4", directories)->title);
  EXPECT_EQ(all_recipes({kInstalled}).recipes.size() + 1, all_recipes(directories).recipes.size());
  EXPECT_THAT(find_recipe("gromcas", directories).error().message(), HasSubstr("did you mean gromacs"));
  EXPECT_EQ(ErrorKind::not_found, find_recipe("../recipes/gromacs", directories).error().kind);
}

TEST_F(RecipeFiles, ThatAreWrongHideNoneSilently) {
  write("gromacs.toml", "title = 3");
  const RecipeList list = all_recipes({directory_, kInstalled});
  ASSERT_EQ(1u, list.faults.size());
  EXPECT_EQ(directory_ + "/gromacs.toml", list.faults[0].path);
  EXPECT_FALSE(find_recipe("gromacs", {directory_, kInstalled}));
}

TEST_F(RecipeFiles, ADirectoryIsLookedThrough) {
  write("case/processor0/0/U", "x");
  write("case/processor0/0.9/U", "xxxx");
  write("case/processor1/0.9/U", "xxxx");
  write("case/processor0/1.1/U", "xxxx");
  write("case/processor0/constant/points", "xxx");
  write("case/system/controlDict", "x");
  write("case/.forebay/sets/a", "x");
  fs::create_directories(directory_ + "/case/processor1/1.1");
  const auto rule = find_recipe("openfoam", {kInstalled})->rule_with({});
  const auto present = present_files(directory_ + "/case", *rule);
  ASSERT_TRUE(present);
  EXPECT_EQ(6u, present->files.size());
  EXPECT_THAT(present->directories, testing::Contains("processor1/1.1"));
  std::vector<rules::PresentFile> files = present->files;
  for (rules::PresentFile& file : files) file.written_ns = file.path.contains("1.1") ? 2000 : 1000;
  const Look found = look(*rule, files, 60'000'000'000);
  ASSERT_EQ(2u, found.sets.size());
  EXPECT_EQ("0.9", found.sets[0].id.label);
  EXPECT_EQ(2u, found.sets[0].files);
  EXPECT_EQ("", found.sets[0].doubt);
  EXPECT_EQ("rank 1 of processor{rank}/{set:time}/** is not there again", found.sets[1].doubt);
  ASSERT_EQ(1u, found.companions.size());
  EXPECT_EQ("processor0/constant/points", found.companions[0].path);
  ASSERT_EQ(2u, found.left.size());
  EXPECT_EQ("processor0/0/", found.left[0].path);
  EXPECT_EQ("system/", found.left[1].path);
  EXPECT_EQ(ErrorKind::not_found, present_files(directory_ + "/nothing", *rule).error().kind);
}

TEST(Look, SetsThatWereWrittenJustNowWait) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  const auto rule = rules::parse_rule("restart.{rank}; done same quiet 2s");
  const std::vector<rules::PresentFile> files = {{.path = "restart.0", .size = 9, .written_ns = 100 * kSecondNs}};
  EXPECT_EQ("it is not left alone for long enough yet", look(*rule, files, 109 * kSecondNs).sets.at(0).doubt);
  EXPECT_EQ("", look(*rule, files, 110 * kSecondNs).sets.at(0).doubt);
}

TEST_F(RecipeFiles, WhatNamesTheNewestSetIsRead) {
  write("run/global_step100/a", "xxxx");
  write("run/latest", "global_step100");
  const auto rule = find_recipe("deepspeed", {kInstalled})->rule_with({});
  const std::string run = directory_ + "/run";
  EXPECT_EQ("", look(*rule, present_files(run, *rule)->files, 0).sets.at(0).doubt);
  write("run/latest", "");
  EXPECT_EQ("latest does not name it", look(*rule, present_files(run, *rule)->files, 0).sets.at(0).doubt);
  fs::remove(run + "/latest");
  fs::create_symlink("global_step100", run + "/latest");
  EXPECT_EQ("", look(*rule, present_files(run, *rule)->files, 0).sets.at(0).doubt);
}

std::string page() {
  std::ifstream file(FOREBAY_SOURCE_DIR "/docs/rules.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> blocks_of(const std::string& text, const std::string& kind) {
  std::vector<std::string> blocks;
  const std::string begin = "```" + kind + "\n";
  for (size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    blocks.push_back(text.substr(at, text.find("```", at) - at));
  }
  return blocks;
}

TEST(Page, HasExamplesThatAreRight) {
  const auto found = blocks_of(page(), "rule");
  EXPECT_GE(found.size(), 4u);
  for (const std::string& text : found) EXPECT_TRUE(rules::parse_rule(text)) << text;
  const auto recipes = blocks_of(page(), "toml");
  ASSERT_EQ(1u, recipes.size());
  const auto recipe = parse_recipe(recipes[0], "ours", "ours.toml");
  EXPECT_TRUE(recipe) << recipe.error().message();
}

TEST(Page, SaysWhatPatternsTake) {
  std::istringstream lines(page());
  int rows = 0;
  bool is_in_table = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "| pattern | path | takes |") is_in_table = true;
    if (!line.starts_with('|')) is_in_table = false;
    if (!is_in_table || !line.starts_with("| `")) continue;
    for (size_t at = 0; (at = line.find("\\|", at)) != std::string::npos;) line.replace(at, 2, "|");
    const std::string between = "` | `";
    const size_t path = line.find(between), takes = line.find("` | ", path + between.size());
    const std::string pattern = line.substr(3, path - 3);
    const auto parsed = rules::parse_pattern(pattern, rules::Subject::path);
    ASSERT_TRUE(parsed) << pattern;
    const auto captures = match(*parsed, line.substr(path + between.size(), takes - path - between.size()));
    ASSERT_TRUE(captures) << line;
    std::string text;
    for (const auto& [name, value] : captures->fields) text += (text.empty() ? "" : " ") + name + "=" + value;
    EXPECT_EQ(line.substr(takes + 4), text + " |") << line;
    ++rows;
  }
  EXPECT_GE(rows, 6);
}

}  // namespace
}  // namespace forebay::launch
