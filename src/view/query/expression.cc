#include "view/query/expression.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace forebay::view {
namespace {

enum class TokenKind : uint8_t { end, name, number, comparison, open, close, conjunction, disjunction, negation };

struct Token {
  TokenKind kind = TokenKind::end;
  size_t at = 0;     // its first byte
  std::string text;  // of a name: without its quotes
  bool quoted = false;
  Comparison comparison = Comparison::less;
  double value = 0;
  long double exact = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool begins_name(char c) {
  const char lower = static_cast<char>(c | 0x20);
  return (lower >= 'a' && lower <= 'z') || c == '_' || c == '/' || c == '@' || static_cast<signed char>(c) < 0;
}

bool continues_name(char c) { return begins_name(c) || is_digit(c) || c == '.' || c == ':' || c == '-'; }

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  return lower;
}

std::unexpected<Error> bad_query(size_t at, std::string what) {
  return fail(ErrorKind::invalid_argument, fmt::format("at character {} of the query: {}", at + 1, what), {}, {},
              "for example: 'temperature > 1e6 and not (density < 0.1 or nan(pressure))'");
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<Token> next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || (text_[at_] >= '\t' && text_[at_] <= '\r'))) ++at_;
    if (at_ == text_.size()) return Token{.at = at_};
    const char c = text_[at_];
    if (c == '"' || c == '\'') return quoted_name();
    if (begins_name(c)) return word();
    if (is_digit(c) || c == '.' || c == '+' || c == '-') return number();
    return sign();
  }

 private:
  Result<Token> quoted_name() {
    Token token{.kind = TokenKind::name, .at = at_, .quoted = true};
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      token.text += text_[at_++];
    }
    if (at_ == text_.size()) return bad_query(token.at, "a quoted name does not end");
    ++at_;
    if (token.text.empty()) return bad_query(token.at, "a quoted name is empty");
    return token;
  }

  Result<Token> word() {
    Token token{.kind = TokenKind::name, .at = at_};
    while (at_ < text_.size() && continues_name(text_[at_])) token.text += text_[at_++];
    const std::string lower = lower_case(token.text);
    if (lower == "and") token.kind = TokenKind::conjunction;
    if (lower == "or") token.kind = TokenKind::disjunction;
    if (lower == "not") token.kind = TokenKind::negation;
    if (lower == "inf" || lower == "infinity") {
      token.kind = TokenKind::number;
      token.value = HUGE_VAL;
      token.exact = HUGE_VALL;
    }
    return token;
  }

  Result<Token> number() {
    Token token{.kind = TokenKind::number, .at = at_};
    const bool negative = text_[at_] == '-';
    if (negative || text_[at_] == '+') ++at_;
    if (const size_t length = infinity_at()) {
      at_ += length;
      token.value = HUGE_VAL;
      token.exact = HUGE_VALL;
    } else {
      FOREBAY_CHECK(take_digits(token));
    }
    if (at_ < text_.size() && continues_name(text_[at_]))
      return bad_query(token.at, "a number goes on with letters; a name that begins with a digit must be quoted");
    if (negative) token.value = -token.value, token.exact = -token.exact;
    return token;
  }

  // The length of "inf" or "infinity" here; 0 if it is neither.
  size_t infinity_at() const {
    for (const std::string_view word : {"infinity", "inf"})
      if (lower_case(text_.substr(at_, word.size())) == word) return word.size();
    return 0;
  }

  Result<void> take_digits(Token& token) {
    // A text of its own, with a zero behind it: libstdc++'s std::from_chars reads beyond the end that it is given.
    std::string digits;
    const auto take_while = [&](const auto& is_one) {
      while (at_ < text_.size() && is_one(text_[at_])) digits += text_[at_++];
    };
    take_while([](char c) { return is_digit(c) || c == '.'; });
    if (at_ < text_.size() && (text_[at_] | 0x20) == 'e') {
      digits += text_[at_++];
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) digits += text_[at_++];
      take_while(is_digit);
    }
    const char *const first = digits.c_str(), *const last = first + digits.size();
    const auto [after, error] = std::from_chars(first, last, token.value);
    if (error == std::errc::result_out_of_range)
      return bad_query(token.at, "this number is outside of what doubles can be");
    if (error != std::errc() || after != last) return bad_query(token.at, "this is no number");
    (void)std::from_chars(first, last, token.exact);
    return {};
  }

  Result<Token> sign() {
    static constexpr struct {
      std::string_view text;
      TokenKind kind;
      Comparison comparison;
    } kSigns[] = {{"<=", TokenKind::comparison, Comparison::less_equal},
                  {">=", TokenKind::comparison, Comparison::greater_equal},
                  {"==", TokenKind::comparison, Comparison::equal},
                  {"!=", TokenKind::comparison, Comparison::not_equal},
                  {"<", TokenKind::comparison, Comparison::less},
                  {">", TokenKind::comparison, Comparison::greater},
                  {"=", TokenKind::comparison, Comparison::equal},
                  {"&&", TokenKind::conjunction, {}},
                  {"||", TokenKind::disjunction, {}},
                  {"&", TokenKind::conjunction, {}},
                  {"|", TokenKind::disjunction, {}},
                  {"!", TokenKind::negation, {}},
                  {"(", TokenKind::open, {}},
                  {")", TokenKind::close, {}}};
    for (const auto& known : kSigns) {
      if (!text_.substr(at_).starts_with(known.text)) continue;
      const Token token{.kind = known.kind, .at = at_, .comparison = known.comparison};
      at_ += known.text.size();
      return token;
    }
    return bad_query(at_, "a character that means nothing here; names with such characters must be quoted");
  }

  std::string_view text_;
  size_t at_ = 0;
};

Comparison mirrored(Comparison comparison) {
  switch (comparison) {
    case Comparison::less:
      return Comparison::greater;
    case Comparison::less_equal:
      return Comparison::greater_equal;
    case Comparison::greater:
      return Comparison::less;
    case Comparison::greater_equal:
      return Comparison::less_equal;
    default:
      return comparison;
  }
}

// By recursive descent; nodes come behind their children.
class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Result<Expression> parse() {
    FOREBAY_CHECK(advance());
    FOREBAY_CHECK(disjunction(0));
    if (token_.kind == TokenKind::close) return bad_query(token_.at, "this ')' closes nothing");
    if (token_.kind == TokenKind::comparison)
      return bad_query(token_.at, "comparisons cannot be chained; write 'a < x and x < b'");
    if (token_.kind != TokenKind::end) return bad_query(token_.at, "'and' or 'or' is missing here");
    return std::move(expression_);
  }

 private:
  Result<void> advance() {
    FOREBAY_TRY(token_, lexer_.next());
    return {};
  }

  size_t add(Expression::Node node) {
    expression_.nodes.push_back(std::move(node));
    return expression_.nodes.size() - 1;
  }

  Result<size_t> disjunction(size_t depth) {
    return joined(TokenKind::disjunction, Expression::Join::any, [&] { return conjunction(depth); });
  }

  Result<size_t> conjunction(size_t depth) {
    return joined(TokenKind::conjunction, Expression::Join::all, [&] { return negation(depth); });
  }

  template <class Part>
  Result<size_t> joined(TokenKind by, Expression::Join join, const Part& part) {
    std::vector<size_t> children;
    FOREBAY_TRY(const size_t first, part());
    children.push_back(first);
    while (token_.kind == by) {
      FOREBAY_CHECK(advance());
      FOREBAY_TRY(const size_t other, part());
      children.push_back(other);
    }
    return children.size() == 1 ? first : add({join, 0, std::move(children)});
  }

  Result<size_t> negation(size_t depth) {
    if (depth >= kMostNesting)
      return bad_query(token_.at, fmt::format("more than {} parentheses and 'not' in each other", kMostNesting));
    if (token_.kind == TokenKind::negation) {
      FOREBAY_CHECK(advance());
      FOREBAY_TRY(const size_t child, negation(depth + 1));
      return add({Expression::Join::negation, 0, {child}});
    }
    if (token_.kind != TokenKind::open) return condition();
    const size_t opened = token_.at;
    FOREBAY_CHECK(advance());
    FOREBAY_TRY(const size_t inner, disjunction(depth + 1));
    if (token_.kind != TokenKind::close)
      return bad_query(token_.at, fmt::format("the '(' at character {} is not closed here", opened + 1));
    FOREBAY_CHECK(advance());
    return inner;
  }

  Result<size_t> condition() {
    if (token_.kind != TokenKind::name && token_.kind != TokenKind::number)
      return bad_query(token_.at, "a variable or a number is missing here");
    const Token left = std::move(token_);
    FOREBAY_CHECK(advance());
    if (token_.kind == TokenKind::open && left.kind == TokenKind::name && !left.quoted) return function(left);
    if (token_.kind != TokenKind::comparison)
      return bad_query(token_.at, "a comparison is missing here: <, <=, >, >=, == or !=");
    const Comparison comparison = token_.comparison;
    FOREBAY_CHECK(advance());
    const Token right = std::move(token_);
    if (is_nan(right) && left.kind == TokenKind::name) return nan_condition(left, comparison, right.at);
    if (is_nan(left) && right.kind == TokenKind::name) return nan_condition(right, comparison, left.at);
    if (right.kind == left.kind || (right.kind != TokenKind::name && right.kind != TokenKind::number))
      return bad_query(right.at,
                       left.kind == TokenKind::name ? "a number is missing here" : "a variable is missing here");
    FOREBAY_CHECK(advance());
    const bool in_order = left.kind == TokenKind::name;
    const Token& number = in_order ? right : left;
    return add_condition(in_order ? left : right,
                         {0, in_order ? comparison : mirrored(comparison), number.value, number.exact});
  }

  // A variable of this name is quoted.
  static bool is_nan(const Token& token) {
    return token.kind == TokenKind::name && !token.quoted && lower_case(token.text) == "nan";
  }

  // By the rules of floating-point numbers nothing equals NaN, which nobody means who asks for it. The comparison is
  // behind the lexer already.
  Result<size_t> nan_condition(const Token& variable, Comparison comparison, size_t at) {
    if (comparison != Comparison::equal && comparison != Comparison::not_equal)
      return bad_query(at, "NaN is neither above nor below anything; compare with it by == or !=");
    FOREBAY_CHECK(advance());
    FOREBAY_TRY(const size_t node, add_condition(variable, {0, Comparison::is_nan, 0, 0}));
    return comparison == Comparison::equal ? node : add({Expression::Join::negation, 0, {node}});
  }

  Result<size_t> function(const Token& name) {
    if (!is_nan(name))
      return bad_query(name.at, fmt::format("'{}' is no function; there is nan(VARIABLE)", name.text.substr(0, 40)));
    FOREBAY_CHECK(advance());
    if (token_.kind != TokenKind::name) return bad_query(token_.at, "a variable is missing here");
    const Token variable = std::move(token_);
    FOREBAY_CHECK(advance());
    if (token_.kind != TokenKind::close) return bad_query(token_.at, "')' is missing here");
    FOREBAY_CHECK(advance());
    return add_condition(variable, {0, Comparison::is_nan, 0, 0});
  }

  Result<size_t> add_condition(const Token& variable, Condition condition) {
    if (expression_.conditions.size() == kMostConditions)
      return bad_query(variable.at, fmt::format("more than {} comparisons", kMostConditions));
    auto& names = expression_.variables;
    condition.variable = static_cast<size_t>(std::ranges::find(names, variable.text) - names.begin());
    if (condition.variable == names.size()) names.push_back(variable.text);
    expression_.conditions.push_back(condition);
    return add({Expression::Join::condition, expression_.conditions.size() - 1, {}});
  }

  Lexer lexer_;
  Token token_;
  Expression expression_;
};

template <class T>
bool compare(Comparison comparison, T value, T with) {
  switch (comparison) {
    case Comparison::less:
      return value < with;
    case Comparison::less_equal:
      return value <= with;
    case Comparison::greater:
      return value > with;
    case Comparison::greater_equal:
      return value >= with;
    case Comparison::equal:
      return value == with;
    case Comparison::not_equal:
      return value < with || value > with;
    case Comparison::is_nan:
      return value != value;
  }
  return false;
}

}  // namespace

Result<Expression> parse_expression(std::string_view text) {
  if (text.size() > kMostQueryBytes) return bad_query(kMostQueryBytes, "it is too long");
  return Parser(text).parse();
}

bool holds(const Condition& condition, double value) { return compare(condition.comparison, value, condition.value); }

bool holds(const Condition& condition, int64_t value) {
  return compare(condition.comparison, static_cast<long double>(value), condition.exact);
}

bool holds(const Condition& condition, uint64_t value) {
  return compare(condition.comparison, static_cast<long double>(value), condition.exact);
}

}  // namespace forebay::view
