#include "launch/recipes/recipe.h"

#include <algorithm>
#include <functional>
#include <initializer_list>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

namespace forebay::launch {
namespace {

using rules::Subject;

constexpr size_t kMostRecipeTexts = 64;
constexpr std::string_view kRecipeHint = "docs/rules.md, \"Recipes\", has the keys and an example";

std::unexpected<Error> bad_recipe(const toml::node& where, std::string_view what,
                                  std::string hint = std::string(kRecipeHint)) {
  return fail(ErrorKind::invalid_argument, fmt::format("line {}: {}", where.source().begin.line, what), {}, {},
              std::move(hint));
}

// An error of what a text of the file holds.
std::unexpected<Error> bad_text(const toml::node& where, std::string_view key, const Error& error) {
  return bad_recipe(where, fmt::format("'{}': {}", key, error.what), error.hint);
}

Result<void> check_known(const toml::table& table, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : table)
    if (std::ranges::find(known, key.str()) == known.end())
      return bad_recipe(value, fmt::format("'{}' is no key here", key.str()),
                        fmt::format("known are {}", fmt::join(known, ", ")));
  return {};
}

Result<std::string> text_of(const toml::node& node, std::string_view key) {
  const auto text = node.value_exact<std::string>();
  if (!text || text->empty()) return bad_recipe(node, fmt::format("'{}' is a text", key));
  return *text;
}

Result<std::string> optional_text(const toml::table& table, std::string_view key) {
  const toml::node* node = table.get(key);
  return node ? text_of(*node, key) : std::string();
}

// Calls take(text, node) for each text of a list.
Result<void> each_text(const toml::table& table, std::string_view key,
                       const std::function<Result<void>(const std::string&, const toml::node&)>& take) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return {};
  const toml::array* list = node->as_array();
  if (list == nullptr || list->size() > kMostRecipeTexts)
    return bad_recipe(*node, fmt::format("'{}' is a list of at most {} texts", key, kMostRecipeTexts));
  for (const toml::node& each : *list) {
    FOREBAY_TRY(const std::string text, text_of(each, key));
    FOREBAY_CHECK(take(text, each));
  }
  return {};
}

template <class Parse, class List>
Result<void> parse_each(const toml::table& table, std::string_view key, const Parse& parse, List& list) {
  return each_text(table, key, [&](const std::string& text, const toml::node& node) -> Result<void> {
    auto parsed = parse(text);
    if (!parsed) return bad_text(node, key, parsed.error());
    list.push_back(std::move(*parsed));
    return {};
  });
}

Result<std::vector<std::string>> texts_of(const toml::table& table, std::string_view key) {
  std::vector<std::string> texts;
  FOREBAY_CHECK(each_text(table, key, [&](const std::string& text, const toml::node&) -> Result<void> {
    texts.push_back(text);
    return {};
  }));
  return texts;
}

Result<std::string> one_of(const toml::table& table, std::string_view key,
                           std::initializer_list<std::string_view> words, std::string otherwise) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return otherwise;
  FOREBAY_TRY(std::string text, text_of(*node, key));
  if (std::ranges::find(words, text) == words.end())
    return bad_recipe(*node, fmt::format("'{}' is one of {}, and not '{}'", key, fmt::join(words, ", "), text));
  return text;
}

Result<void> parse_place(const toml::table& table, rules::Resume& resume) {
  const toml::node* node = table.get("place");
  if (node == nullptr) return {};
  if (const auto flag = node->value_exact<bool>()) {
    resume.is_in_place = *flag;
    return {};
  }
  const auto directory = node->value_exact<std::string>();
  if (!directory || directory->empty())
    return bad_recipe(*node, "'place' is true, false, or the directory to put the set into");
  resume.is_in_place = true;
  resume.directory = *directory;
  return {};
}

Result<void> parse_env(const toml::table& table, rules::Resume& resume) {
  const toml::node* node = table.get("env");
  if (node == nullptr) return {};
  const toml::table* values = node->as_table();
  if (values == nullptr || values->size() > kMostRecipeTexts) return bad_recipe(*node, "'env' is a table of texts");
  for (const auto& [key, value] : *values) {
    const bool is_name = !key.str().empty() && std::ranges::all_of(key.str(), [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
    if (!is_name) return bad_recipe(value, fmt::format("'{}' is no name of a variable", key.str()));
    FOREBAY_TRY(const std::string text, text_of(value, key.str()));
    auto parsed = rules::parse_template(text);
    if (!parsed) return bad_text(value, key.str(), parsed.error());
    resume.env.emplace(key.str(), std::move(*parsed));
  }
  return {};
}

Result<rules::Resume> parse_resume(const toml::table& root, const rules::Rule& rule) {
  const toml::node* node = root.get("resume");
  const toml::table* table = node ? node->as_table() : nullptr;
  if (table == nullptr) return bad_recipe(node ? *node : root, "there is no table [resume]");
  FOREBAY_CHECK(check_known(*table, {"place", "args", "command", "env", "as", "point", "link", "aside"}));
  rules::Resume resume;
  FOREBAY_CHECK(parse_place(*table, resume));
  const auto words = [](const std::string& text) { return rules::parse_template(text); };
  FOREBAY_CHECK(parse_each(*table, "args", words, resume.args));
  FOREBAY_CHECK(parse_each(*table, "command", words, resume.command));
  FOREBAY_CHECK(parse_env(*table, resume));
  FOREBAY_CHECK(parse_each(*table, "as", rules::parse_as, resume.as));
  FOREBAY_CHECK(parse_each(*table, "point", rules::parse_point, resume.points));
  FOREBAY_CHECK(parse_each(*table, "link", rules::parse_link, resume.links));
  FOREBAY_CHECK(parse_each(
      *table, "aside", [](const std::string& text) { return rules::parse_pattern(text, Subject::path); },
      resume.aside));
  const bool puts = !resume.as.empty() || !resume.points.empty() || !resume.links.empty() || !resume.aside.empty();
  if (puts && !resume.is_in_place) return bad_recipe(*table, "'as', 'point', 'link' and 'aside' need 'place'");
  if (const auto checked = rules::check_resume(resume, rule); !checked)
    return bad_text(*table, "resume", checked.error());
  return resume;
}

Result<std::optional<CodeInput>> parse_input(const toml::table& root) {
  const toml::node* node = root.get("input");
  if (node == nullptr) return std::nullopt;
  const toml::table* table = node->as_table();
  if (table == nullptr) return bad_recipe(*node, "'input' is a table");
  FOREBAY_CHECK(check_known(
      *table, {"after", "comment", "continues", "resumes", "needs", "keep", "refuse", "drop", "replace", "once"}));
  const auto lines = [](const std::string& text) { return rules::parse_pattern(text, Subject::line); };
  CodeInput input;
  FOREBAY_TRY(input.after, texts_of(*table, "after"));
  FOREBAY_TRY(input.comment, optional_text(*table, "comment"));
  FOREBAY_TRY(input.continues, optional_text(*table, "continues"));
  FOREBAY_CHECK(parse_each(*table, "resumes", lines, input.resumes));
  FOREBAY_TRY(input.needs, optional_text(*table, "needs"));
  FOREBAY_CHECK(parse_each(*table, "keep", lines, input.keep));
  FOREBAY_CHECK(parse_each(*table, "refuse", lines, input.refuse));
  FOREBAY_CHECK(parse_each(*table, "drop", lines, input.drop));
  FOREBAY_CHECK(parse_each(*table, "replace", parse_edit, input.replace));
  if (const toml::node* once = table->get("once")) {
    FOREBAY_TRY(const std::string text, text_of(*once, "once"));
    auto parsed = lines(text);
    if (!parsed) return bad_text(*once, "once", parsed.error());
    input.once = std::move(*parsed);
  }
  if (input.after.empty() || input.resumes.empty() || input.needs.empty())
    return bad_recipe(*table, "'input' has 'after', 'resumes' and 'needs'");
  return input;
}

Result<rules::Words> parse_words(const toml::table& root, const rules::Rule& rule) {
  rules::Words words;
  const toml::node* node = root.get("words");
  if (node == nullptr) return words;
  const toml::table* table = node->as_table();
  if (table == nullptr) return bad_recipe(*node, "'words' is a table of texts");
  for (const auto& [key, value] : *table) {
    FOREBAY_TRY(words[std::string(key.str())], text_of(value, key.str()));
  }
  if (const auto fixed = rules::with_words(rule, words); !fixed) return bad_text(*table, "words", fixed.error());
  return words;
}

Result<Recipe> parse_table(const toml::table& table) {
  FOREBAY_CHECK(check_known(table, {"title", "rule", "programs", "requires", "dangers", "edit", "ranks", "seen",
                                    "source", "words", "resume", "input"}));
  Recipe recipe;
  FOREBAY_TRY(recipe.title, optional_text(table, "title"));
  if (recipe.title.empty()) return bad_recipe(table, "there is no 'title'");
  const toml::node* rule = table.get("rule");
  if (rule == nullptr) return bad_recipe(table, "there is no 'rule'");
  FOREBAY_TRY(const std::string text, text_of(*rule, "rule"));
  auto parsed = rules::parse_rule(text);
  if (!parsed) return bad_text(*rule, "rule", parsed.error());
  recipe.rule = std::move(*parsed);
  FOREBAY_TRY(recipe.words, parse_words(table, recipe.rule));
  FOREBAY_TRY(recipe.resume, parse_resume(table, recipe.rule));
  FOREBAY_TRY(recipe.input, parse_input(table));
  FOREBAY_TRY(recipe.programs, texts_of(table, "programs"));
  FOREBAY_TRY(recipe.requirements, texts_of(table, "requires"));
  FOREBAY_TRY(recipe.dangers, texts_of(table, "dangers"));
  FOREBAY_TRY(recipe.edit, optional_text(table, "edit"));
  FOREBAY_TRY(recipe.source, optional_text(table, "source"));
  FOREBAY_TRY(recipe.ranks, one_of(table, "ranks", {"any", "same", "unknown"}, "unknown"));
  FOREBAY_TRY(recipe.seen, one_of(table, "seen", {"tried", "sources", "documents", "reports"}, ""));
  return recipe;
}

rules::Words joined(const rules::Words& otherwise, const rules::Words& own) {
  rules::Words words = own;
  words.insert(otherwise.begin(), otherwise.end());
  return words;
}

}  // namespace

Result<rules::Rule> Recipe::rule_with(const rules::Words& own) const { return with_words(rule, joined(words, own)); }

Result<rules::Resume> Recipe::resume_with(const rules::Words& own) const {
  return with_words(resume, joined(words, own));
}

bool is_recipe_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

Result<Recipe> parse_recipe(std::string_view text, std::string_view name, const std::string& path) {
  const auto at_path = [&](Error error) -> std::unexpected<Error> {
    error.path = path;
    return std::unexpected(std::move(error));
  };
  try {
    auto recipe = parse_table(toml::parse(text));
    if (!recipe) return at_path(std::move(recipe).error());
    recipe->name = name;
    recipe->path = path;
    return recipe;
  } catch (const toml::parse_error& error) {
    return fail(ErrorKind::invalid_argument, fmt::format("line {}: {}", error.source().begin.line, error.description()),
                path);
  }
}

}  // namespace forebay::launch
