#include "cli/recipe_text.h"

#include <functional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/text.h"

namespace forebay::cli {
namespace {

using namespace launch::rules;

// The rule, an item a line.
std::string item_lines(const Rule& rule) {
  std::string lines;
  const std::string text = print_rule(rule);
  bool is_quoted = false;
  std::string line;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '"') is_quoted = !is_quoted;
    if (i == text.size() || (text[i] == ';' && !is_quoted)) {
      lines += fmt::format("  {}\n", printable(line));
      line.clear();
      ++i;  // the blank behind it
    } else {
      line += text[i];
    }
  }
  return lines;
}

template <class Each>
std::vector<std::string> printed(const std::vector<Each>& list, std::string (*print)(const Each&)) {
  std::vector<std::string> texts;
  for (const Each& each : list) texts.push_back(print(each));
  return texts;
}

std::string words_of(const std::vector<Template>& words) {
  std::string text;
  for (const Template& word : words) text += (text.empty() ? "" : " ") + shell_word(print_template(word));
  return text;
}

Json json_words(const Words& words) {
  Json json = Json::object();
  for (const auto& [name, value] : words) json[name] = json_text(value);
  return json;
}

Json json_resume(const Resume& resume) {
  Json environment = Json::object();
  for (const auto& [name, value] : resume.env) environment[name] = json_text(print_template(value));
  return {{"in_place", resume.is_in_place && resume.directory.empty()},
          {"directory", json_text_or_null(resume.directory)},
          {"argument_words", json_texts(printed(resume.args, print_template))},
          {"command_words", json_texts(printed(resume.command, print_template))},
          {"environment", std::move(environment)},
          {"copies", json_texts(printed(resume.as, print_as))},
          {"pointers", json_texts(printed(resume.points, print_point))},
          {"links", json_texts(printed(resume.links, print_link))},
          {"aside_patterns", json_texts(printed(resume.aside, print_pattern))}};
}

}  // namespace

std::vector<std::string> resume_lines(const Resume& resume, const std::string& edit) {
  std::vector<std::string> lines;
  const auto add_all = [&](std::string_view title, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) lines.push_back(fmt::format("{} {}", title, text));
  };
  if (!resume.directory.empty())
    lines.push_back("the set is put into " + resume.directory);
  else if (resume.is_in_place)
    lines.emplace_back("the set is put where it was written; what is newer goes aside");
  else
    lines.emplace_back("the set may lie anywhere");
  add_all("aside goes", printed(resume.aside, print_pattern));
  add_all("a copy:", printed(resume.as, print_as));
  add_all("a link:", printed(resume.links, print_link));
  add_all("a file says which:", printed(resume.points, print_point));
  if (!resume.command.empty()) lines.push_back("the command is " + words_of(resume.command));
  if (!resume.args.empty()) lines.push_back("the command is followed by " + words_of(resume.args));
  for (const auto& [name, value] : resume.env)
    lines.push_back(fmt::format("the environment has {}={}", name, print_template(value)));
  if (!edit.empty()) lines.push_back("you change: " + edit);
  return lines;
}

std::string section(std::string_view title, const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  std::string lines = fmt::format("\n{}\n", title);
  for (const std::string& text : texts) lines += "  " + wrapped(printable(text), 2) + "\n";
  return lines;
}

std::string recipe_text(const launch::Recipe& recipe) {
  std::string text = fmt::format("{}: {}\nfile: {}\n\nA set, and when it is complete\n{}", recipe.name,
                                 printable(recipe.title), printable(recipe.path), item_lines(recipe.rule));
  std::vector<std::string> words;
  for (const auto& [name, value] : recipe.words)
    words.push_back(fmt::format("{{{}}} is {}, or what --let {}=VALUE says", name, value, name));
  text += section("Words", words);
  text += section("Programs, for --code auto", recipe.programs);
  text += section("At a restart", resume_lines(recipe.resume, recipe.edit));
  const std::vector<std::string> ranks = {recipe.ranks == "any" ? "any number of ranks reads a set"
                                          : recipe.ranks == "same"
                                              ? "as many ranks as wrote a set read it"
                                              : "whether another number of ranks reads a set is not known"};
  text += section("Ranks", ranks);
  text += section("Requires", recipe.requirements);
  text += section("Beware", recipe.dangers);
  std::vector<std::string> known;
  if (!recipe.seen.empty()) known.push_back(recipe.seen + (recipe.source.empty() ? "" : ": " + recipe.source));
  return text + section("Known from", known);
}

Json json_recipe(const launch::Recipe& recipe) {
  return {{"name", recipe.name},
          {"title", json_text(recipe.title)},
          {"path", json_text(recipe.path)},
          {"rule", json_text(print_rule(recipe.rule))},
          {"words", json_words(recipe.words)},
          {"programs", json_texts(recipe.programs)},
          {"resume", json_resume(recipe.resume)},
          {"restart_ranks", recipe.ranks},
          {"requirements", json_texts(recipe.requirements)},
          {"dangers", json_texts(recipe.dangers)},
          {"edit", recipe.edit.empty() ? Json() : json_text(recipe.edit)},
          {"seen", recipe.seen.empty() ? Json() : Json(recipe.seen)},
          {"source", recipe.source.empty() ? Json() : json_text(recipe.source)}};
}

}  // namespace forebay::cli
