// What a query asks: comparisons of variables with numbers, joined by and, or, not. Pure.
//
//   temperature > 1e6 and (density < 0.1 or not "x-velocity" <= -3) or nan(pressure)
//
// Names are letters, digits and _ / . @ : - (not a digit or one of .- first), or quoted with ' or ", in which a
// backslash takes the next character as it is. Numbers are decimal, with exponents; inf; nan, which goes with == and !=
// only: "x == nan" is nan(x), and "x != nan" is not nan(x). Comparisons are < <= > >= == (or =) !=, with the number on
// either side. "not" binds more tightly than "and", and this than "or"; words are taken in any case, and & | ! (or
// doubled) mean the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace forebay::view {

enum class Comparison : uint8_t { less, less_equal, greater, greater_equal, equal, not_equal, is_nan };

// VARIABLE COMPARISON NUMBER. A value that is no number makes every comparison false, != too.
struct Condition {
  size_t variable = 0;  // in Expression::variables
  Comparison comparison = Comparison::less;
  double value = 0;       // what floating-point variables are compared with
  long double exact = 0;  // and integers: every integer of 64 bits is one
};

struct Expression {
  enum class Join : uint8_t { condition, all, any, negation };
  struct Node {
    Join join = Join::condition;
    size_t condition = 0;          // of a condition
    std::vector<size_t> children;  // of the others: nodes before this one; a negation has one
  };

  std::vector<std::string> variables;  // as they are named, each once
  std::vector<Condition> conditions;
  std::vector<Node> nodes;  // the last one is the whole
};

inline constexpr size_t kMostQueryBytes = 65536;
inline constexpr size_t kMostConditions = 1024;
inline constexpr size_t kMostNesting = 64;

// invalid_argument, with what was expected and at which character, if `text` is none, or passes one of the bounds.
Result<Expression> parse_expression(std::string_view text);

// Whether `value` fulfils the condition.
bool holds(const Condition& condition, double value);
bool holds(const Condition& condition, int64_t value);
bool holds(const Condition& condition, uint64_t value);

}  // namespace forebay::view
