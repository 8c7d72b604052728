// Similarity keys: what makes variables of different files alike (mcrEngine section 3.1).
#pragma once

#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "base/layout.h"

namespace forebay::merge {

enum class Matching : uint8_t {
  exact,     // group path and name as they are
  counters,  // runs of digits in group names count as equal: /Grid00000007/Density and /Grid00000031/Density are alike
};

// The user's rule `REGEX=KEY`: a variable whose path matches the ECMAScript regular expression as a whole gets the key
// path that KEY expands to ($1 stands for the first capture). The first rule that matches wins, before `Matching`.
struct MatchRule {
  std::string text;
  std::regex pattern;
  std::string key;

  // Splits at the last '='. invalid_argument if there is none or the expression is malformed.
  static Result<MatchRule> parse(std::string_view text);
};

struct Similarity {
  Matching matching = Matching::counters;
  std::vector<MatchRule> rules;

  // "Group-path/Name_Datatype_Class", as in "/Grid#/Density_f4_Array3D" or "/Time_f8_Scalar". A filtered variable has
  // the datatype of its elements with "_Filtered" appended. Pure.
  std::string key(const Variable& variable) const;

  // The keys of all variables of a layout, in order.
  std::vector<std::string> keys(const Layout& layout) const;
};

}  // namespace forebay::merge
