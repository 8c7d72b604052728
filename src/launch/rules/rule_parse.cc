#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "launch/rules/rule.h"

namespace forebay::launch::rules {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMostTime = std::chrono::hours(24);
constexpr milliseconds kDefaultQuiet{2000};

struct Token {
  std::string_view text;
  size_t column = 1;
  bool is_quoted = false;
};

std::unexpected<Error> bad_rule(size_t column, std::string what, std::string hint = {}) {
  return fail(ErrorKind::invalid_argument, fmt::format("column {}: {}", column, what), {}, {}, std::move(hint));
}

bool is_gap(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Each item is a list of tokens.
Result<std::vector<std::vector<Token>>> items_of(std::string_view text) {
  std::vector<std::vector<Token>> items(1);
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    if (is_gap(text[at])) {
      ++at;
    } else if (text[at] == ';') {
      items.emplace_back();
      ++at;
    } else if (text[at] == '"') {
      const size_t end = text.find('"', at + 1);
      if (end == std::string_view::npos) return bad_rule(at + 1, "a '\"' is not closed");
      items.back().push_back({text.substr(at + 1, end - at - 1), at + 2, true});
      at = end + 1;
    } else {
      while (at < text.size() && !is_gap(text[at]) && text[at] != ';' && text[at] != '"') ++at;
      items.back().push_back({text.substr(begin, at - begin), begin + 1});
    }
  }
  std::erase_if(items, [](const std::vector<Token>& item) { return item.empty(); });
  return items;
}

Result<milliseconds> time_of(const Token& token) {
  std::string_view number = token.text;
  const bool is_milli = number.ends_with("ms");
  if (!number.ends_with('s'))
    return bad_rule(token.column, fmt::format("'{}' is no time", token.text), "such as 2s or 500ms");
  number.remove_suffix(is_milli ? 2 : 1);
  double value = 0;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != number.data() + number.size() || !(value > 0))
    return bad_rule(token.column, fmt::format("'{}' is no time", token.text), "such as 2s, 0.5s or 500ms");
  value = is_milli ? value : value * 1000;
  if (value < 1 || value > static_cast<double>(kMostTime.count()))
    return bad_rule(token.column, fmt::format("'{}' is not between 1ms and a day", token.text));
  return milliseconds(static_cast<int64_t>(value + 0.5));
}

// "column 40: " of a text of several lines is "line 3, column 7: " for people.
Error with_line(Error error, std::string_view text) {
  constexpr std::string_view kColumn = "column ";
  size_t column = 0;
  const char* const begin = error.what.data() + kColumn.size();
  const auto [end, fault] = std::from_chars(begin, error.what.data() + error.what.size(), column);
  if (!error.what.starts_with(kColumn) || fault != std::errc() || column == 0) return error;
  const std::string_view before = text.substr(0, column - 1);
  const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  error.what = fmt::format("line {}, column {}{}", 1 + std::ranges::count(before, '\n'), column - line_begin, end);
  return error;
}

class RuleParser {
 public:
  Result<Rule> run(std::string_view text) {
    if (text.size() > kMostRuleBytes)
      return bad_rule(1, fmt::format("the rule is longer than {} bytes", kMostRuleBytes));
    FOREBAY_TRY(const auto items, items_of(text));
    for (const auto& tokens : items) FOREBAY_CHECK(item(tokens));
    if (!has_done_) rule_.done = {.is_same = true, .quiet = kDefaultQuiet};
    FOREBAY_CHECK(check_fields());
    return std::move(rule_);
  }

 private:
  Result<void> item(const std::vector<Token>& tokens) {
    const std::string_view word = tokens[0].is_quoted ? std::string_view("\"") : tokens[0].text;
    if (word == "done") return done(tokens);
    if (word == "optional") return pattern_item(Item::Kind::optional, tokens, 1);
    if (word == "with") return pattern_item(Item::Kind::companion, tokens, 1);
    if (word == "not") return pattern_item(Item::Kind::never, tokens, 1);
    return pattern_item(Item::Kind::member, tokens, 0);
  }

  Result<void> pattern_item(Item::Kind kind, const std::vector<Token>& tokens, size_t at) {
    if (at >= tokens.size())
      return bad_rule(tokens[0].column + tokens[0].text.size(), fmt::format("'{}' has no pattern", tokens[0].text),
                      "such as " + std::string(tokens[0].text) + " *.log");
    if (tokens[at].is_quoted) return bad_rule(tokens[at].column, "a pattern is not quoted", "'?' stands for a blank");
    Item item{.kind = kind};
    FOREBAY_TRY(item.pattern, parse_pattern(tokens[at].text, Subject::path, tokens[at].column));
    size_t used = at + 1;
    if (kind == Item::Kind::companion && used < tokens.size() && tokens[used].text == "appended") {
      item.is_appended = true;
      ++used;
    }
    if (used < tokens.size())
      return bad_rule(tokens[used].column, fmt::format("'{}' follows a pattern", tokens[used].text),
                      "items are separated by ';', and a blank in a name is written '?'");
    if (rule_.items.size() == kMostItems)
      return bad_rule(tokens[0].column, fmt::format("more than {} items", kMostItems));
    rule_.items.push_back(std::move(item));
    columns_.push_back(tokens[at].column);
    return {};
  }

  Result<void> done(const std::vector<Token>& tokens) {
    if (has_done_) return bad_rule(tokens[0].column, "'done' is there twice", "all conditions follow one 'done'");
    has_done_ = true;
    if (tokens.size() == 1)
      return bad_rule(tokens[0].column, "'done' has no condition", "renamed, last, says, quiet, still or same");
    for (size_t at = 1; at < tokens.size();) FOREBAY_CHECK(condition(tokens, at));
    if (rule_.done == Done{.is_same = true})
      return bad_rule(tokens[0].column, "'same' alone does not say when a set is complete",
                      "such as done same quiet 2s");
    return {};
  }

  // The operand that follows `tokens[at]`.
  static Result<Token> operand(const std::vector<Token>& tokens, size_t at, size_t number, bool quoted,
                               const char* what) {
    if (at + number >= tokens.size() || tokens[at + number].is_quoted != quoted)
      return bad_rule(tokens[at].column, fmt::format("'{}' is followed by {}", tokens[at].text, what));
    return tokens[at + number];
  }

  static std::unexpected<Error> twice(const Token& token) {
    return bad_rule(token.column, fmt::format("'{}' is there twice", token.text));
  }

  Result<void> condition(const std::vector<Token>& tokens, size_t& at) {
    Done& done = rule_.done;
    const Token& token = tokens[at];
    if (!token.is_quoted && (token.text == "renamed" || token.text == "same")) {
      bool& flag = token.text == "same" ? done.is_same : done.is_renamed;
      if (flag) return twice(token);
      flag = true;
      ++at;
      return {};
    }
    if (!token.is_quoted && (token.text == "quiet" || token.text == "still")) {
      auto& time = token.text == "quiet" ? done.quiet : done.still;
      if (time) return twice(token);
      FOREBAY_TRY(const Token value, operand(tokens, at, 1, false, "a time such as 2s"));
      FOREBAY_TRY(time, time_of(value));
      at += 2;
      return {};
    }
    if (!token.is_quoted && token.text == "last") {
      if (done.last) return twice(token);
      FOREBAY_TRY(const Token value, operand(tokens, at, 1, false, "a pattern"));
      FOREBAY_TRY(done.last, parse_pattern(value.text, Subject::path, value.column));
      at += 2;
      return {};
    }
    if (!token.is_quoted && token.text == "says") return says(tokens, at);
    return bad_rule(token.column, fmt::format("'{}' is no condition", token.text),
                    "renamed, last PATTERN, says FILE \"TEXT\", quiet TIME, still TIME or same");
  }

  Result<void> says(const std::vector<Token>& tokens, size_t& at) {
    if (rule_.done.says) return twice(tokens[at]);
    FOREBAY_TRY(const Token file, operand(tokens, at, 1, false, "a file and a text in quotes"));
    FOREBAY_TRY(const Token line, operand(tokens, at, 2, true, "a file and a text in quotes"));
    Says says;
    FOREBAY_TRY(says.file, parse_pattern(file.text, Subject::path, file.column));
    FOREBAY_TRY(says.line, parse_pattern(line.text, Subject::line, line.column));
    rule_.done.says = std::move(says);
    says_column_ = line.column;
    at += 3;
    return {};
  }

  static std::set<std::string> words_of(const Pattern& pattern) {
    std::set<std::string> words;
    for (const Piece& piece : pattern.pieces)
      if (piece.kind == Piece::Kind::field && piece.text != "set" && piece.text != "rank") words.insert(piece.text);
    return words;
  }

  // Files are of one set if their labels and words are equal: each member has to have them.
  Result<void> check_fields() const {
    const Item* first = nullptr;
    for (size_t i = 0; i < rule_.items.size(); ++i) {
      const Item& item = rule_.items[i];
      if (item.kind == Item::Kind::member && !first) first = &item;
    }
    if (!first) return bad_rule(1, "the rule has no member", "such as chk{set}/** or restart.{rank}");
    const bool has_label = first->pattern.has_field("set");
    const std::set<std::string> words = words_of(first->pattern);
    for (size_t i = 0; i < rule_.items.size(); ++i) {
      const Item& item = rule_.items[i];
      if (item.kind == Item::Kind::never) continue;
      const bool is_member = item.kind != Item::Kind::companion;
      if (is_member && item.pattern.has_field("set") != has_label)
        return bad_rule(columns_[i],
                        fmt::format("{{set}} is in some members and not in {}", print_pattern(item.pattern)),
                        "all members have {set}, or none");
      const std::set<std::string> own = words_of(item.pattern);
      for (const std::string& word : is_member ? words : own)
        if (!own.contains(word) || !words.contains(word))
          return bad_rule(columns_[i], fmt::format("{{{}}} is not in all members", word),
                          "all members have the same words; '*' stands for anything");
      if (is_member && own != words)
        return bad_rule(columns_[i],
                        fmt::format("{} has words that other members have not", print_pattern(item.pattern)),
                        "all members have the same words; '*' stands for anything");
    }
    return check_says(has_label, words);
  }

  Result<void> check_says(bool has_label, const std::set<std::string>& words) const {
    if (!rule_.done.says) return {};
    if (rule_.done.says->line.has_field("set") != has_label)
      return bad_rule(says_column_, has_label ? "the text does not name the set" : "the rule has no {set}",
                      has_label ? "{set} in it stands for the set" : "take {set} out of the text");
    for (const Pattern* pattern : {&rule_.done.says->file, &rule_.done.says->line})
      for (const std::string& word : words_of(*pattern))
        if (!words.contains(word))
          return bad_rule(says_column_, fmt::format("{{{}}} is not in the members", word), "'*' stands for anything");
    return {};
  }

  Rule rule_;
  std::vector<size_t> columns_;  // of the items' patterns
  size_t says_column_ = 1;
  bool has_done_ = false;
};

}  // namespace

Result<Rule> parse_rule(std::string_view text) {
  auto rule = RuleParser().run(text);
  if (!rule && text.contains('\n')) return std::unexpected(with_line(std::move(rule).error(), text));
  return rule;
}

}  // namespace forebay::launch::rules
