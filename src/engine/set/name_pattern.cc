#include "engine/set/name_pattern.h"

#include <algorithm>

namespace forebay::engine {

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

NamePattern take_apart(std::string_view name) {
  NamePattern parts;
  for (size_t i = 0; i < name.size();) {
    if (!is_digit(name[i])) {
      parts.pattern += name[i++];
      continue;
    }
    size_t end = i;
    while (end < name.size() && is_digit(name[end])) ++end;
    parts.pattern += '#';
    parts.numbers.push_back(name.substr(i, end - i));
    i = end;
  }
  return parts;
}

std::string_view without_zeros(std::string_view digits) {
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
}

bool ByValue::operator()(std::string_view a, std::string_view b) const {
  a = without_zeros(a);
  b = without_zeros(b);
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace forebay::engine
