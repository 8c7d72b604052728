#include "launch/recipes/code_input.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace forebay::launch {
namespace {

using rules::Pattern;
using rules::Subject;

constexpr std::string_view kBlanks = " \t\r";

// One blank where there are several outside of quotes, none at the ends, and no comment.
std::string plain_line(std::string_view line, std::string_view comment) {
  std::string plain;
  char quote = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote == 0 && !comment.empty() && line.substr(at).starts_with(comment)) break;
    if (quote == 0 && kBlanks.contains(c)) {
      if (!plain.empty() && plain.back() != ' ') plain += ' ';
      continue;
    }
    if (c == '"' || c == '\'') quote = quote == 0 ? c : (quote == c ? char(0) : quote);
    plain += c;
  }
  while (plain.ends_with(' ')) plain.pop_back();
  return plain;
}

struct Line {
  size_t number = 1;
  std::string_view raw;  // with its end, and with the lines in which it goes on
  std::string plain;
};

std::vector<Line> lines_of(const CodeInput& input, std::string_view text) {
  std::vector<Line> lines;
  size_t number = 0;
  bool goes_on = false;
  while (!text.empty()) {
    const std::string_view raw = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(raw.size());
    ++number;
    std::string plain = plain_line(raw.ends_with('\n') ? raw.substr(0, raw.size() - 1) : raw, input.comment);
    const bool will_go_on = !input.continues.empty() && plain.ends_with(input.continues);
    if (will_go_on) plain.resize(plain.size() - input.continues.size());
    if (goes_on) {
      lines.back().raw = {lines.back().raw.data(), lines.back().raw.size() + raw.size()};
      lines.back().plain = plain_line(lines.back().plain + " " + plain, {});
    } else {
      lines.push_back({number, raw, plain_line(plain, {})});
    }
    goes_on = will_go_on;
  }
  return lines;
}

bool is_any_of(const std::vector<Pattern>& patterns, const std::string& line) {
  return std::ranges::any_of(patterns,
                             [&](const Pattern& pattern) { return match(pattern, line, Subject::line).has_value(); });
}

std::unexpected<Error> not_this(const Line& line, std::string_view why) {
  return fail(ErrorKind::unsupported, fmt::format("line {}, '{}', {}", line.number, line.plain, why));
}

bool names_the_set(const CodeInput::Edit& edit) {
  return edit.to.has_word("path") || edit.to.has_word("set") || edit.to.has_word("step");
}

class Copier {
 public:
  Copier(const CodeInput& input, const rules::Words& words) : input_(input), words_(words) {}

  Result<void> add(const Line& line) {
    if (input_.once && match(*input_.once, line.plain, Subject::line)) {
      if (has_passed_) return not_this(line, "is there twice");
      has_passed_ = true;
      is_last_ = true;
    }
    FOREBAY_CHECK(change(line));
    is_last_ = false;
    return {};
  }

  Result<std::string> take() {
    const bool has_way = std::ranges::any_of(input_.replace, names_the_set);
    if (!has_replaced_ || (has_way && !has_set_))
      return fail(ErrorKind::unsupported, "no line of it can be replaced by one that resumes");
    if (input_.once && !has_passed_)
      return fail(ErrorKind::unsupported, fmt::format("it has no line '{}'", print_pattern(*input_.once)));
    return std::move(text_);
  }

 private:
  Result<void> change(const Line& line) {
    if (line.plain.size() > rules::kMostMatchedBytes) return not_this(line, "is too long");
    if (is_any_of(input_.keep, line.plain)) return keep(line);
    if (is_any_of(input_.refuse, line.plain)) return not_this(line, "may mean something else in a copy");
    if (is_any_of(input_.drop, line.plain)) {
      if (has_passed_ && !is_last_) return not_this(line, "stands behind what is to be run");
      return {};
    }
    for (const CodeInput::Edit& edit : input_.replace)
      if (const auto found = match(edit.from, line.plain, Subject::line)) return replace(line, edit, *found);
    return keep(line);
  }

  Result<void> keep(const Line& line) {
    text_ += line.raw;
    return {};
  }

  Result<void> replace(const Line& line, const CodeInput::Edit& edit, const rules::Captures& found) {
    if (has_passed_ && !is_last_) return not_this(line, "stands behind what is to be run");
    rules::Filling filling{.words = words_, .stars = found.stars, .root = {}, .files = {}};
    for (const auto& [name, value] : found.fields) filling.words[name] = value;
    FOREBAY_TRY(const std::string text, fill(edit.to, filling));
    if (names_the_set(edit) && std::exchange(has_set_, true)) return not_this(line, "would read the set twice");
    text_ += text + "\n";
    has_replaced_ = true;
    return {};
  }

  const CodeInput& input_;
  const rules::Words& words_;
  std::string text_;
  bool has_passed_ = false, is_last_ = false, has_replaced_ = false, has_set_ = false;
};

}  // namespace

Result<CodeInput::Edit> parse_edit(std::string_view text) {
  constexpr std::string_view kBetween = " -> ";
  const size_t at = text.find(kBetween);
  if (at == std::string_view::npos || at == 0)
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not of the form PATTERN -> TEXT", text));
  CodeInput::Edit edit;
  FOREBAY_TRY(edit.from, rules::parse_pattern(text.substr(0, at), Subject::line));
  const size_t behind = at + kBetween.size();
  FOREBAY_TRY(edit.to, rules::parse_template(text.substr(behind), true, behind + 1));
  const auto stars = std::ranges::count(edit.from.pieces, rules::Piece::Kind::any, &rules::Piece::kind);
  if (std::ranges::count(edit.to.pieces, rules::Template::Piece::Kind::star, &rules::Template::Piece::kind) > stars)
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' has more '*' on the right than on the left", text));
  for (const auto& piece : edit.to.pieces) {
    using Kind = rules::Template::Piece::Kind;
    const bool is_known = piece.kind != Kind::word || piece.text == "path" || piece.text == "set" ||
                          piece.text == "step" || edit.from.has_field(piece.text);
    if (!is_known || piece.kind == Kind::file)
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' uses a word that it does not have", text), {}, {},
                  "{path}, {set}, {step} and the words of the pattern");
  }
  return edit;
}

std::optional<size_t> input_word(const CodeInput& input, std::span<const std::string> command) {
  for (size_t i = 0; i + 1 < command.size(); ++i)
    if (std::ranges::find(input.after, command[i]) != input.after.end()) return i + 1;
  return {};
}

bool resumes_by_itself(const CodeInput& input, std::string_view text) {
  return std::ranges::any_of(lines_of(input, text),
                             [&](const Line& line) { return is_any_of(input.resumes, line.plain); });
}

Result<std::string> resumed_input(const CodeInput& input, std::string_view text, const rules::Words& words) {
  Copier copier(input, words);
  for (const Line& line : lines_of(input, text)) FOREBAY_CHECK(copier.add(line));
  return copier.take();
}

}  // namespace forebay::launch
