#include <algorithm>
#include <array>
#include <cctype>

#include "launch/rules/pattern.h"

namespace forebay::launch::rules {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_word_start(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_date_part(char c) { return is_digit(c) || std::string_view("_:.TZ-").find(c) != std::string_view::npos; }

bool in_range(std::string_view range, char c) {
  const auto number = [](char each) { return static_cast<unsigned char>(each); };
  for (size_t i = 0; i < range.size(); ++i) {
    const bool is_span = i + 2 < range.size() && range[i + 1] == '-';
    const char last = is_span ? range[i + 2] : range[i];
    if (number(c) >= number(range[i]) && number(c) <= number(last)) return true;
    if (is_span) i += 2;
  }
  return false;
}

// The length of the number at the beginning of `text`: all of it, without its exponent, and without its fraction as
// well; 0 for what is not there.
std::array<size_t, 4> time_lengths(std::string_view text) {
  const auto digits = [&](size_t from) {
    size_t at = from;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at;
  };
  const auto exponent = [&](size_t from) -> size_t {
    if (from >= text.size() || (text[from] != 'e' && text[from] != 'E')) return 0;
    size_t at = from + 1;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const size_t end = digits(at);
    return end > at ? end : 0;
  };
  const size_t whole = digits(0);
  if (whole == 0) return {};
  size_t fraction = whole < text.size() && text[whole] == '.' ? digits(whole + 1) : 0;
  if (fraction == whole + 1) fraction = 0;
  return {fraction ? exponent(fraction) : 0, fraction, exponent(whole), whole};
}

// Backtracks, and remembers from where the rest of the pattern was tried in vain.
class Matcher {
 public:
  Matcher(const Pattern& pattern, std::string_view subject, Subject kind)
      : pieces_(pattern.pieces), below_(pattern.is_below), subject_(subject), is_line_(kind == Subject::line) {}

  std::optional<Captures> run() {
    if (subject_.size() > kMostMatchedBytes) return {};
    if (!pieces_.empty() && pieces_[0].kind == Piece::Kind::text && !subject_.starts_with(pieces_[0].text)) return {};
    failed_.assign(pieces_.size() * 2 * (subject_.size() + 1), false);
    spans_.resize(pieces_.size());
    if (!rest(0, 0)) return {};
    return captures();
  }

 private:
  struct Span {
    size_t begin = 0, end = 0;
  };

  size_t place(size_t piece, bool inside, size_t at) const {
    return (piece * 2 + (inside ? 1 : 0)) * (subject_.size() + 1) + at;
  }
  bool may_take(char c) const { return is_line_ || c != '/'; }
  bool may_be_in_field(char c) const { return is_line_ ? !is_blank(c) : c != '/'; }
  bool digit_at(size_t at) const { return at < subject_.size() && is_digit(subject_[at]); }

  bool rest(size_t piece, size_t at) {
    if (piece == pieces_.size()) {
      if (below_) return at + 1 < subject_.size() && subject_[at] == '/';
      return at == subject_.size();
    }
    if (failed_[place(piece, false, at)]) return false;
    if (take(piece, at)) return true;
    failed_[place(piece, false, at)] = true;
    return false;
  }

  bool take(size_t piece, size_t at) {
    const Piece& p = pieces_[piece];
    const bool is_end = at == subject_.size();
    switch (p.kind) {
      case Piece::Kind::text:
        return subject_.substr(at).starts_with(p.text) && rest(piece + 1, at + p.text.size());
      case Piece::Kind::one:
        return !is_end && may_take(subject_[at]) && rest(piece + 1, at + 1);
      case Piece::Kind::range:
        return !is_end && in_range(p.text, subject_[at]) && rest(piece + 1, at + 1);
      case Piece::Kind::any:
        return take_run(piece, at, at);
      case Piece::Kind::field:
        return p.is_again ? take_again(piece, at) : take_field(piece, at);
    }
    return false;
  }

  // Of * and of words that nothing repeats: from which place they began does not matter for the rest.
  bool take_run(size_t piece, size_t begin, size_t first_end) {
    const bool is_star = pieces_[piece].kind == Piece::Kind::any;
    for (size_t end = first_end;; ++end) {
      if (failed_[place(piece, true, end)]) return false;
      spans_[piece] = {begin, end};
      if (rest(piece + 1, end)) return true;
      failed_[place(piece, true, end)] = true;
      if (end == subject_.size() || !(is_star ? may_take(subject_[end]) : may_be_in_field(subject_[end]))) return false;
    }
  }

  bool take_again(size_t piece, size_t at) {
    for (size_t i = 0; i < piece; ++i) {
      if (pieces_[i].kind != Piece::Kind::field || pieces_[i].text != pieces_[piece].text) continue;
      const std::string_view value = subject_.substr(spans_[i].begin, spans_[i].end - spans_[i].begin);
      return subject_.substr(at).starts_with(value) && rest(piece + 1, at + value.size());
    }
    return false;
  }

  bool take_value(size_t piece, size_t begin, size_t end) {
    if (end > subject_.size()) return false;
    spans_[piece] = {begin, end};
    // What failed behind it failed with another value.
    if (pieces_[piece].is_copied)
      std::fill(failed_.begin() + static_cast<std::ptrdiff_t>(place(piece + 1, false, 0)), failed_.end(), false);
    return rest(piece + 1, end);
  }

  // Whether a number may begin here: behind a piece of no fixed text, not within another number.
  bool is_number_start(size_t piece, size_t at) const {
    if (!digit_at(at)) return false;
    const bool is_behind_run = piece > 0 && pieces_[piece - 1].kind != Piece::Kind::text;
    return !is_behind_run || at == 0 || !is_digit(subject_[at - 1]);
  }

  bool take_field(size_t piece, size_t at) {
    switch (pieces_[piece].taken.kind) {
      case FieldClass::Kind::digits:
        return take_digits(piece, at);
      case FieldClass::Kind::time:
        return take_time(piece, at);
      case FieldClass::Kind::date:
        return take_date(piece, at);
      case FieldClass::Kind::word:
        return at < subject_.size() && is_word_start(subject_[at]) && take_word(piece, at);
      case FieldClass::Kind::free:
        return at < subject_.size() && may_be_in_field(subject_[at]) && take_word(piece, at);
      case FieldClass::Kind::shape:
        return take_shape(piece, at);
      case FieldClass::Kind::words:
        return std::ranges::any_of(pieces_[piece].taken.words, [&](const std::string& word) {
          return subject_.substr(at).starts_with(word) && take_value(piece, at, at + word.size());
        });
    }
    return false;
  }

  bool take_digits(size_t piece, size_t at) {
    if (!is_number_start(piece, at)) return false;
    size_t end = at;
    while (digit_at(end)) ++end;
    return take_value(piece, at, end);
  }

  bool take_time(size_t piece, size_t at) {
    if (!is_number_start(piece, at)) return false;
    for (const size_t length : time_lengths(subject_.substr(at)))
      if (length > 0 && !digit_at(at + length) && take_value(piece, at, at + length)) return true;
    return false;
  }

  bool take_date(size_t piece, size_t at) {
    if (!is_number_start(piece, at)) return false;
    size_t end = at;
    while (end < subject_.size() && is_date_part(subject_[end])) ++end;
    for (; end > at; --end)
      if (!digit_at(end) && take_value(piece, at, end)) return true;
    return false;
  }

  bool take_shape(size_t piece, size_t at) {
    const std::string& shape = pieces_[piece].taken.shape;
    if (shape.size() > subject_.size() - at) return false;
    if (is_digit(shape.front()) && !is_number_start(piece, at)) return false;
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] == '0' ? !is_digit(subject_[at + i]) : shape[i] != subject_[at + i]) return false;
    const size_t end = at + shape.size();
    return !(is_digit(shape.back()) && digit_at(end)) && take_value(piece, at, end);
  }

  bool take_word(size_t piece, size_t at) {
    if (!pieces_[piece].is_copied) return take_run(piece, at, at + 1);
    for (size_t end = at + 1;; ++end) {
      if (take_value(piece, at, end)) return true;
      if (end >= subject_.size() || !may_be_in_field(subject_[end])) return false;
    }
  }

  Captures captures() const {
    Captures found;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const Span& span = spans_[i];
      std::string value(subject_.substr(span.begin, span.end - span.begin));
      if (pieces_[i].kind == Piece::Kind::any) found.stars.push_back(std::move(value));
      if (pieces_[i].kind != Piece::Kind::field || pieces_[i].is_again) continue;
      if (pieces_[i].text == "set") found.set_end = span.end;
      found.fields.emplace(pieces_[i].text, std::move(value));
    }
    return found;
  }

  const std::vector<Piece>& pieces_;
  const bool below_;
  const std::string_view subject_;
  const bool is_line_;
  std::vector<bool> failed_;
  std::vector<Span> spans_;
};

}  // namespace

std::optional<Captures> match(const Pattern& pattern, std::string_view subject, Subject kind) {
  return Matcher(pattern, subject, kind).run();
}

}  // namespace forebay::launch::rules
