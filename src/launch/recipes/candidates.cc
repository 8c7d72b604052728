#include "launch/recipes/candidates.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fnmatch.h>

#include "launch/recipes/look.h"

namespace forebay::launch {
namespace {

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find_first_not_of(" \t\n", at);
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(text.find_first_of(" \t\n", begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    at = end;
  }
  return words;
}

// A word of "sh -c 'mpirun ./app'" has several.
std::vector<std::string> split(std::span<const std::string> command) {
  std::vector<std::string> all;
  for (const std::string& word : command)
    for (std::string& part : words_in(word)) all.push_back(std::move(part));
  return all;
}

bool is_named(const std::string& pattern, const std::string& word) {
  return ::fnmatch(pattern.c_str(), word.substr(word.rfind('/') + 1).c_str(), 0) == 0;
}

// How many words of a recipe's program the command has, if the word at `at` is that program; 0: it is not.
size_t words_matched(const Recipe& recipe, const std::vector<std::string>& words, size_t at) {
  size_t most = 0;
  for (const std::string& program : recipe.programs) {
    const auto parts = words_in(program);
    if (parts.empty() || !is_named(parts[0], words[at])) continue;
    const auto is_there = [&](const std::string& part) {
      return std::find(words.begin() + static_cast<std::ptrdiff_t>(at), words.end(), part) != words.end();
    };
    if (std::all_of(parts.begin() + 1, parts.end(), is_there)) most = std::max(most, parts.size());
  }
  return most;
}

// The first word that is a program of any recipe; words.size(): none is.
size_t program_in(std::span<const Recipe> recipes, const std::vector<std::string>& words) {
  for (size_t at = 0; at < words.size(); ++at)
    if (std::ranges::any_of(recipes, [&](const Recipe& recipe) { return words_matched(recipe, words, at) > 0; }))
      return at;
  return words.size();
}

void look_for_sets(const rules::Rule& rule, std::span<const rules::PresentFile> files, int64_t now_ns,
                   Candidate& candidate) {
  const auto sets = look(rule, files, now_ns).sets;
  // Only of the newest it can be seen whether a file names it: where none does, these are another code's.
  if (rule.done.says && !sets.empty() && !sets.back().doubt.empty()) return;
  for (const Look::Set& set : sets) {
    if (!set.doubt.empty()) continue;
    ++candidate.sets;
    candidate.newest = to_string(set.id);
  }
}

}  // namespace

std::vector<Candidate> candidates(std::span<const Recipe> recipes, std::span<const std::string> command,
                                  std::span<const rules::PresentFile> files, int64_t now_ns) {
  const auto words = split(command);
  const size_t program = program_in(recipes, words);
  std::vector<Candidate> found;
  for (const Recipe& recipe : recipes) {
    const auto rule = recipe.rule_with({});
    if (!rule) continue;
    Candidate candidate{.name = recipe.name, .title = recipe.title, .program = {}, .newest = {}};
    if (program < words.size()) candidate.words = words_matched(recipe, words, program);
    if (candidate.words > 0) candidate.program = words[program];
    look_for_sets(*rule, files, now_ns, candidate);
    if (candidate.words > 0 || candidate.sets > 0) found.push_back(std::move(candidate));
  }
  std::ranges::stable_sort(found, std::ranges::greater(),
                           [](const Candidate& one) { return std::tuple(one.words, one.sets); });
  return found;
}

std::optional<Candidate> clear_one(std::span<const Candidate> candidates) {
  if (candidates.empty() || candidates[0].words == 0) return std::nullopt;
  const auto is_alike = [&](const Candidate& one) { return one.words == candidates[0].words; };
  const auto has_sets = [&](const Candidate& one) { return is_alike(one) && one.sets > 0; };
  if (std::ranges::count_if(candidates, is_alike) == 1 || std::ranges::count_if(candidates, has_sets) == 1)
    return candidates[0];  // those with sets come first
  return std::nullopt;
}

std::string reason_of(const Candidate& candidate) {
  std::string text = candidate.words > 0 ? fmt::format("the program '{}'", candidate.program) : std::string();
  if (candidate.sets > 0)
    text += fmt::format("{}{} in the directory, the newest {}", text.empty() ? "" : "; ",
                        candidate.sets == 1 ? "1 set" : fmt::format("{} sets", candidate.sets), candidate.newest);
  return text;
}

}  // namespace forebay::launch
