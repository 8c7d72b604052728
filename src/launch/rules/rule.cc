#include "launch/rules/rule.h"

#include <algorithm>

#include <fmt/format.h>

namespace forebay::launch::rules {
namespace {

bool is_own_or_removed(std::string_view path) {
  if (path.starts_with(".forebay")) return true;
  const size_t slash = path.rfind('/');
  return path.substr(slash == std::string_view::npos ? 0 : slash + 1).starts_with(".nfs");
}

std::string time_text(std::chrono::milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{}s", time.count() / 1000) : fmt::format("{}ms", time.count());
}

std::string print_item(const Item& item) {
  constexpr std::string_view kWords[] = {"", "optional ", "with ", "not "};
  return fmt::format("{}{}{}", kWords[static_cast<size_t>(item.kind)], print_pattern(item.pattern),
                     item.is_appended ? " appended" : "");
}

std::string print_done(const Done& done) {
  std::string text = "done";
  if (done.is_renamed) text += " renamed";
  if (done.last) text += " last " + print_pattern(*done.last);
  if (done.says) text += fmt::format(" says {} \"{}\"", print_pattern(done.says->file), print_pattern(done.says->line));
  if (done.is_same) text += " same";
  if (done.quiet) text += " quiet " + time_text(*done.quiet);
  if (done.still) text += " still " + time_text(*done.still);
  return text;
}

Words series_of(const Words& fields) {
  Words series = fields;
  series.erase("set");
  series.erase("rank");
  return series;
}

std::string field_of(const Words& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : found->second;
}

}  // namespace

bool Rule::has_label() const {
  return std::ranges::any_of(
      items, [](const Item& item) { return item.kind == Item::Kind::member && item.pattern.has_field("set"); });
}

std::string print_rule(const Rule& rule) {
  std::string text;
  for (const Item& item : rule.items) text += print_item(item) + "; ";
  return text + print_done(rule.done);
}

Result<Rule> with_words(const Rule& rule, const Words& words) {
  for (const auto& [name, value] : words) {
    const bool is_word = name != "set" && name != "rank" && std::ranges::any_of(rule.items, [&](const Item& item) {
                           return item.pattern.has_field(name);
                         });
    if (!is_word)
      return fail(ErrorKind::invalid_argument, fmt::format("the rule has no word {{{}}}", name), {}, {},
                  "the rule is: " + print_rule(rule));
  }
  Rule fixed = rule;
  for (Item& item : fixed.items) {
    FOREBAY_TRY(item.pattern, with_words(item.pattern, words));
  }
  if (fixed.done.last) {
    FOREBAY_TRY(*fixed.done.last, with_words(*fixed.done.last, words));
  }
  if (fixed.done.says) {
    FOREBAY_TRY(fixed.done.says->file, with_words(fixed.done.says->file, words));
    FOREBAY_TRY(fixed.done.says->line, with_words(fixed.done.says->line, words, Subject::line));
  }
  // What was allowed with a word may not be without it.
  return parse_rule(print_rule(fixed));
}

Role role_of(const Rule& rule, std::string_view path) {
  Role role;
  if (is_own_or_removed(path)) return role;
  const auto takes = [&](Item::Kind kind) {
    for (size_t i = 0; i < rule.items.size(); ++i) {
      if (rule.items[i].kind != kind) continue;
      auto captures = match(rule.items[i].pattern, path);
      if (!captures) continue;
      role = {.kind = kind, .item = i, .captures = std::move(*captures)};
      return true;
    }
    return false;
  };
  if (takes(Item::Kind::never)) return {};
  if (takes(Item::Kind::member) || takes(Item::Kind::optional)) {
    role.series = series_of(role.captures.fields);
    role.label = field_of(role.captures.fields, "set");
    role.rank = field_of(role.captures.fields, "rank");
    return role;
  }
  takes(Item::Kind::companion);
  return role;
}

}  // namespace forebay::launch::rules
