// Names taken apart at their runs of digits, by which names of one series are known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forebay::engine {

// "DD0010.cpu0003" has the pattern "DD#.cpu#" and the numbers 0010 and 0003, which point into the name.
struct NamePattern {
  std::string pattern;
  std::vector<std::string_view> numbers;
};

NamePattern take_apart(std::string_view name);

// A run of digits without the zeros in front, so that equal numbers are equal texts.
std::string_view without_zeros(std::string_view digits);

// Orders numbers of any length by their value.
struct ByValue {
  bool operator()(std::string_view a, std::string_view b) const;
};

}  // namespace forebay::engine
