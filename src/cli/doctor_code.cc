#include "cli/doctor_code.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "cli/input_copy.h"
#include "cli/look_text.h"
#include "cli/recipe_text.h"
#include "cli/series.h"
#include "cli/text.h"
#include "cli/units.h"
#include "launch/recipes/present_files.h"

namespace forebay::cli {
namespace {

using namespace launch::rules;
using Words = std::vector<std::string>;

// The newest set that nothing speaks against.
const launch::Look::Set* newest_set(const launch::Look& look) {
  const auto whole = std::find_if(look.sets.rbegin(), look.sets.rend(),
                                  [](const launch::Look::Set& set) { return set.doubt.empty(); });
  return whole == look.sets.rend() ? nullptr : &*whole;
}

// With {set} and the like where no set says what they are.
ResumedCommand unfilled(const Resume& resume) {
  ResumedCommand made;
  for (const Template& word : resume.command) made.command.push_back(print_template(word));
  for (const Template& word : resume.args) made.args.push_back(print_template(word));
  for (const auto& [name, value] : resume.env) made.env[name] = print_template(value);
  return made;
}

// As `run` would start the command from that set.
Result<Words> restart_words(const CodeQuestion& question, const ChosenRule& chosen, const launch::Look::Set* set) {
  ResumedCommand made = unfilled(chosen.resume);
  if (set != nullptr) {
    const bool is_put = chosen.resume.is_in_place || !chosen.resume.directory.empty();
    const std::string root = is_put ? question.directory : question.stage + "/" + name_of(set->id, chosen.name);
    FOREBAY_TRY(made, resumed_command(chosen.rule, chosen.resume, root, {.id = set->id, .members = set->members}));
  }
  Words words;
  for (const auto& [name, value] : made.env) words.push_back(name + "=" + value);
  const Words& command = made.command.empty() ? question.command : made.command;
  words.insert(words.end(), command.begin(), command.end());
  words.insert(words.end(), made.args.begin(), made.args.end());
  return words;
}

std::string words_text(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

Finding unclear(const std::vector<launch::Candidate>& candidates) {
  Finding finding{"code", Verdict::stop, {}, "'forebay run --code auto' takes a recipe only where one is clear", {}};
  finding.found = candidates.empty() ? "no recipe has a program of the command, or sets in the directory"
                                     : fmt::format("{} may be meant", plural(candidates.size(), "recipe"));
  finding.change = candidates.empty() ? "name one with --code ('forebay recipes' lists them), or give --sets RULE"
                                      : "name the one that is meant with --code";
  return finding;
}

Finding judge_look(const CodeLook& found) {
  const std::string topic = "code " + found.chosen.name;
  const std::string where = printable(found.directory);
  const auto whole = static_cast<uint64_t>(
      std::ranges::count_if(found.look.sets, [](const launch::Look::Set& set) { return set.doubt.empty(); }));
  if (found.look.sets.empty())
    return {topic,
            Verdict::note,
            fmt::format("no file in {} is of a set", where),
            "if the code has written checkpoints there, the rule does not fit",
            {}};
  return {topic,
          Verdict::ok,
          fmt::format("{} in {}, {} of them complete", plural(found.look.sets.size(), "set"), where, whole),
          "what is there is input for the next run; a set that is written again is copied and stored",
          {}};
}

Finding judge_program(const std::string& program) {
  if (is_program_here(program)) return {"command", Verdict::ok, program + " can be executed", "run starts it", {}};
  return {"command", Verdict::stop, fmt::format("there is no program '{}' that can be executed", program),
          "'forebay run' exits with 126 or 127", "give its path, or add its directory to $PATH"};
}

Finding judge_input(const InputLook& look, const std::string& code) {
  if (look.is.empty())
    return {"input", Verdict::ok, "the input resumes by itself", code + " goes on from the newest set", {}};
  if (look.change.empty()) return {"input", Verdict::note, look.is, "the input is left as it is", {}};
  return {"input", Verdict::warning, look.is, "a restart may begin from scratch", look.change};
}

}  // namespace

Result<CodeLook> look_at_code(const CodeQuestion& question) {
  CodeLook found{.directory = question.directory};
  RuleChoice choice = question.choice;
  if (!question.command.empty()) found.findings.push_back(judge_program(question.command[0]));
  if (choice.code == kAutoCode) {
    FOREBAY_TRY(found.candidates, propose_code(question.command, question.directory));
    const auto one = launch::clear_one(found.candidates);
    if (!one) {
      found.findings.push_back(unclear(found.candidates));
      return found;
    }
    choice.code = one->name;
  }
  FOREBAY_TRY(found.chosen, choose_rule(choice));
  FOREBAY_TRY(const auto present, launch::present_files(question.directory, found.chosen.rule));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  found.look = launch::look(found.chosen.rule, present.files, std::chrono::nanoseconds(now).count());
  const launch::Look::Set* const newest = newest_set(found.look);
  if (newest != nullptr) found.from = to_string(newest->id);
  if (!question.command.empty()) {
    const InputLook input = look_at_input(found.chosen.name, found.chosen.input, question.command);
    if (found.chosen.input) found.findings.push_back(judge_input(input, found.chosen.name));
    CodeQuestion asked = question;
    if (input.is_copied)
      if (const auto word = launch::input_word(*found.chosen.input, question.command))
        asked.command[*word] = copy_of_input(question.command[*word]);
    FOREBAY_TRY(found.restart, restart_words(asked, found.chosen, newest));
  }
  found.findings.push_back(judge_look(found));
  return found;
}

void print_code(const CodeLook& found) {
  std::vector<std::string> lines;
  for (const launch::Candidate& candidate : found.candidates) lines.push_back(candidate_text(candidate));
  fmt::print("{}", section("Recipes that may be meant, the likeliest first", lines));
  if (found.chosen.name.empty()) return;
  const std::string title = found.chosen.title.empty() ? "the rule" : found.chosen.title;
  fmt::print("\n{} in {}\n{}\n\n", printable(title), printable(found.directory),
             wrapped(printable(print_rule(found.chosen.rule)), 0));
  print_look(found.look);
  lines = resume_lines(found.chosen.resume, found.chosen.edit);
  if (!found.restart.empty())
    lines.push_back(
        fmt::format("{}: {}", found.from.empty() ? "the command" : "from " + found.from, words_text(found.restart)));
  fmt::print("{}", section("At a restart", lines));
  fmt::print("{}", section("The recipe requires", found.chosen.requirements));
  fmt::print("{}", section("Beware", found.chosen.dangers));
}

Json json_code(const CodeLook& found) {
  Json candidates = Json::array();
  for (const launch::Candidate& one : found.candidates)
    candidates.push_back({{"name", one.name},
                          {"title", json_text(one.title)},
                          {"program", one.program.empty() ? Json() : json_text(one.program)},
                          {"set_count", one.sets},
                          {"reason", json_text(launch::reason_of(one))}});
  Json document = {{"name", found.chosen.name.empty() ? Json() : Json(found.chosen.name)},
                   {"directory", json_text(found.directory)},
                   {"candidates", std::move(candidates)}};
  if (found.chosen.name.empty()) return document;
  document["rule"] = json_text(print_rule(found.chosen.rule));
  document.update(json_look(found.look));
  document["requirements"] = json_texts(found.chosen.requirements);
  document["dangers"] = json_texts(found.chosen.dangers);
  document["edit"] = found.chosen.edit.empty() ? Json() : json_text(found.chosen.edit);
  document["restart_from"] = found.from.empty() ? Json() : json_text(found.from);
  document["restart_command_words"] = json_texts(found.restart);
  return document;
}

}  // namespace forebay::cli
