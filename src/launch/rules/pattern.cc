#include "launch/rules/pattern.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace forebay::launch::rules {
namespace {

constexpr size_t kMostCopiedNames = 2;
constexpr std::string_view kClassNames[] = {"digits", "time", "date", "word", "free"};

bool is_letter_or_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool all_are(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](char c) { return is_letter_or_digit(c) || others.contains(c); });
}

std::unexpected<Error> bad_pattern(size_t column, std::string what, std::string hint) {
  return fail(ErrorKind::invalid_argument, fmt::format("column {}: {}", column, what), {}, {}, std::move(hint));
}

FieldClass default_class(std::string_view name) {
  return {.kind = name == "set" || name == "rank" ? FieldClass::Kind::digits : FieldClass::Kind::free};
}

// How the class is written; empty: it is the default of that name.
std::string class_text(const FieldClass& taken, std::string_view name) {
  if (taken == default_class(name)) return {};
  if (taken.kind == FieldClass::Kind::shape) return taken.shape;
  if (taken.kind == FieldClass::Kind::words) return fmt::format("{}", fmt::join(taken.words, "|"));
  return std::string(kClassNames[static_cast<size_t>(taken.kind)]);
}

bool is_long(const Piece& piece) {
  if (piece.kind == Piece::Kind::any) return true;
  if (piece.kind != Piece::Kind::field) return false;
  return piece.taken.kind == FieldClass::Kind::word || piece.taken.kind == FieldClass::Kind::free ||
         piece.taken.kind == FieldClass::Kind::date;
}

class PatternParser {
 public:
  PatternParser(std::string_view text, Subject subject, size_t column)
      : text_(text), is_path_(subject == Subject::path), column_(column) {}

  Result<Pattern> run() {
    if (text_.empty()) return bad_pattern(column_, "a pattern is missing", "such as chk{set}/**");
    if (is_path_ && text_.starts_with('/'))
      return bad_pattern(column_, "a pattern begins with '/'", "patterns are relative to the stage");
    while (at_ < text_.size() && !pattern_.is_below) {
      FOREBAY_CHECK(piece());
      if (pattern_.pieces.size() > kMostPatternPieces)
        return bad_pattern(column(), fmt::format("a pattern has more than {} parts", kMostPatternPieces), {});
    }
    if (is_path_) FOREBAY_CHECK(check_components());
    FOREBAY_CHECK(check_copies());
    return std::move(pattern_);
  }

 private:
  size_t column() const { return column_ + at_; }

  Result<void> piece() {
    const char c = text_[at_];
    if (is_path_ && text_.substr(at_) == "/**" && at_ > 0) {
      pattern_.is_below = true;
      return {};
    }
    if (text_.substr(at_).starts_with("**"))
      return bad_pattern(column(), "'**' is not at the end", "'/**' at the end of a pattern is any file below");
    if (c == '*' || c == '?') {
      pattern_.pieces.push_back({.kind = c == '*' ? Piece::Kind::any : Piece::Kind::one});
      ++at_;
      return {};
    }
    if (c == '[') return range();
    if (c == '{') return field();
    return literal();
  }

  Result<void> literal() {
    const size_t begin = at_;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '*' || c == '?' || c == '[' || c == '{' || (is_path_ && at_ > 0 && text_.substr(at_) == "/**")) break;
      if (c == '}' || c == ']')
        return bad_pattern(column(), fmt::format("'{}' closes nothing", c), "'?' stands for it");
      if (static_cast<unsigned char>(c) < ' ' || c == '"' || (is_path_ && (c == ';' || c == ' ')))
        return bad_pattern(column(), "a character that patterns cannot have", "'?' stands for it");
    }
    pattern_.pieces.push_back({.kind = Piece::Kind::text, .text = std::string(text_.substr(begin, at_ - begin))});
    return {};
  }

  Result<void> range() {
    const size_t end = text_.find(']', at_);
    if (end == std::string_view::npos) return bad_pattern(column(), "'[' has no ']'", "such as [0-9]");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    if (inside.empty() || !all_are(inside, "_.+,=:-*"))
      return bad_pattern(column(), "'[' and ']' are around letters, digits, spans of them, and any of _.+,=:-*",
                         "such as [0-9]");
    pattern_.pieces.push_back({.kind = Piece::Kind::range, .text = std::string(inside)});
    at_ = end + 1;
    return {};
  }

  Result<void> field() {
    const size_t end = text_.find('}', at_);
    if (end == std::string_view::npos) return bad_pattern(column(), "'{' has no '}'", "such as {set}");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    const size_t colon = std::min(inside.find(':'), inside.size());
    const std::string_view name = inside.substr(0, colon);
    if (name.empty() || !all_are(name, "_") || (name[0] >= '0' && name[0] <= '9'))
      return bad_pattern(column() + 1, fmt::format("'{}' is no name", name), "such as {set}, {rank} or {case}");
    Piece piece{.kind = Piece::Kind::field, .text = std::string(name), .taken = default_class(name)};
    if (colon < inside.size()) {
      FOREBAY_TRY(piece.taken, class_of(inside.substr(colon + 1), column() + colon + 2));
    }
    FOREBAY_CHECK(note_copy(piece, colon < inside.size()));
    pattern_.pieces.push_back(std::move(piece));
    at_ = end + 1;
    return {};
  }

  static Result<FieldClass> class_of(std::string_view text, size_t column) {
    for (size_t i = 0; i < std::size(kClassNames); ++i)
      if (text == kClassNames[i]) return FieldClass{.kind = static_cast<FieldClass::Kind>(i)};
    if (text.contains('|') || !text.contains('0')) {
      FieldClass taken{.kind = FieldClass::Kind::words};
      for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find('|', begin), text.size());
        const std::string_view word = text.substr(begin, end - begin);
        if (word.empty() || !all_are(word, "_.+-"))
          return bad_pattern(column + begin,
                             fmt::format("'{}' is no word of letters, digits, '_', '.', '+' or '-'", word),
                             "a field takes time, date, word, a shape such as 0000, or words such as a|b");
        taken.words.emplace_back(word);
        begin = end + 1;
      }
      return taken;
    }
    if (!all_are(text, "_.+:-"))
      return bad_pattern(column, fmt::format("'{}' is no shape", text), "each 0 of a shape stands for one digit: 0000");
    return FieldClass{.kind = FieldClass::Kind::shape, .shape = std::string(text)};
  }

  Result<void> note_copy(Piece& piece, bool has_class) {
    for (Piece& before : pattern_.pieces) {
      if (before.kind != Piece::Kind::field || before.text != piece.text || before.is_again) continue;
      if (has_class && before.taken != piece.taken)
        return bad_pattern(column() + 1, fmt::format("'{}' takes something else than before", piece.text), {});
      before.is_copied = true;
      piece.taken = before.taken;
      piece.is_again = true;
    }
    return {};
  }

  Result<void> check_components() const {
    // A character that is no part of a name stands for what is not fixed.
    std::string names;
    for (const Piece& piece : pattern_.pieces) names += piece.kind == Piece::Kind::text ? piece.text : "\n";
    for (size_t begin = 0; begin <= names.size();) {
      const size_t end = std::min(names.find('/', begin), names.size());
      const std::string_view name = std::string_view(names).substr(begin, end - begin);
      if (name.empty()) return bad_pattern(column_, "a component of the path is empty", "one '/' between two names");
      if (name == "." || name == "..")
        return bad_pattern(column_, fmt::format("'{}' is no name of a file", name), "patterns go down from the stage");
      begin = end + 1;
    }
    if (names.starts_with(".forebay"))
      return bad_pattern(column_, "what begins with '.forebay' is Forebay's own", "patterns name the code's files");
    return {};
  }

  // Words that occur twice cost time for each way to read the first one.
  Result<void> check_copies() const {
    size_t copied = 0;
    bool is_behind_long = false;
    for (const Piece& piece : pattern_.pieces) {
      if (piece.kind == Piece::Kind::text && piece.text.contains('/')) is_behind_long = false;
      if (piece.is_copied && ++copied > kMostCopiedNames)
        return bad_pattern(column_, fmt::format("more than {} fields occur twice", kMostCopiedNames), {});
      if (piece.is_copied && is_long(piece) && is_behind_long)
        return bad_pattern(column_, fmt::format("'{}' occurs twice, first behind a '*' or a word", piece.text),
                           "give it a shape, or words, or a component of its own");
      is_behind_long |= is_long(piece);
    }
    return {};
  }

  const std::string_view text_;
  const bool is_path_;
  const size_t column_;
  size_t at_ = 0;
  Pattern pattern_;
};

std::string print_piece(const Piece& piece) {
  switch (piece.kind) {
    case Piece::Kind::text:
      return piece.text;
    case Piece::Kind::any:
      return "*";
    case Piece::Kind::one:
      return "?";
    case Piece::Kind::range:
      return fmt::format("[{}]", piece.text);
    case Piece::Kind::field:
      break;
  }
  const std::string taken = piece.is_again ? "" : class_text(piece.taken, piece.text);
  return fmt::format("{{{}{}{}}}", piece.text, taken.empty() ? "" : ":", taken);
}

}  // namespace

bool Pattern::has_field(std::string_view name) const {
  return std::ranges::any_of(
      pieces, [&](const Piece& piece) { return piece.kind == Piece::Kind::field && piece.text == name; });
}

Result<Pattern> parse_pattern(std::string_view text, Subject subject, size_t column) {
  return PatternParser(text, subject, column).run();
}

std::string print_pattern(const Pattern& pattern) {
  std::string text;
  for (const Piece& piece : pattern.pieces) text += print_piece(piece);
  return pattern.is_below ? text + "/**" : text;
}

Result<Pattern> with_words(const Pattern& pattern, const Words& words, Subject subject) {
  std::string text;
  for (const Piece& piece : pattern.pieces) {
    const auto fixed = piece.kind == Piece::Kind::field ? words.find(piece.text) : words.end();
    if (fixed == words.end()) {
      text += print_piece(piece);
      continue;
    }
    if (fixed->second.empty() || fixed->second.find_first_of("*?[]{}\"; ") != std::string::npos)
      return fail(ErrorKind::invalid_argument,
                  fmt::format("'{}' for the word {} is no part of a path", fixed->second, fixed->first), {}, {},
                  "a word is replaced by a name or a path without blanks, '*', '?', brackets and quotes");
    text += fixed->second;
  }
  return parse_pattern(pattern.is_below ? text + "/**" : text, subject);
}

}  // namespace forebay::launch::rules
