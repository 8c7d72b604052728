#include "merge/similarity.h"

namespace forebay::merge {

Result<MatchRule> MatchRule::parse(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    return fail(ErrorKind::invalid_argument, "'" + std::string(text) + "' is not of the form REGEX=KEY", {}, {},
                "as in '/Grid[0-9]+/(.*)=/Grid/$1'");
  MatchRule rule{.text = std::string(text), .pattern = {}, .key = std::string(text.substr(equals + 1))};
  try {
    rule.pattern = std::regex(std::string(text.substr(0, equals)), std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    return fail(ErrorKind::invalid_argument,
                "'" + std::string(text.substr(0, equals)) + "' is not a regular expression: " + error.what());
  }
  return rule;
}

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Every run of digits in the group part of a path (all before the last '/') as one '#'.
std::string see_through_counters(std::string_view path) {
  const size_t name = path.rfind('/');
  std::string key;
  for (size_t i = 0; i < path.size(); ++i) {
    if (i < name && is_digit(path[i])) {
      if (i == 0 || !is_digit(path[i - 1])) key += '#';
    } else {
      key += path[i];
    }
  }
  return key;
}

std::string class_of(const Variable& variable) {
  return variable.shape.empty() ? "Scalar" : "Array" + std::to_string(variable.shape.size()) + "D";
}

}  // namespace

std::string Similarity::key(const Variable& variable) const {
  std::string path;
  for (const MatchRule& rule : rules) {
    std::smatch match;
    try {
      if (!std::regex_match(variable.path, match, rule.pattern)) continue;
    } catch (const std::regex_error&) {  // the expression is too complex for this path: it does not match
      continue;
    }
    path = match.format(rule.key);
    break;
  }
  if (path.empty()) path = matching == Matching::counters ? see_through_counters(variable.path) : variable.path;
  return path + "_" + variable.type.name() + (variable.filtered ? "_Filtered" : "") + "_" + class_of(variable);
}

std::vector<std::string> Similarity::keys(const Layout& layout) const {
  std::vector<std::string> all;
  all.reserve(layout.variables.size());
  for (const Variable& variable : layout.variables) all.push_back(key(variable));
  return all;
}

}  // namespace forebay::merge
