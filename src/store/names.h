// Names of sets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forebay::store {

// The Levenshtein distance: how many characters must be inserted, removed or replaced to turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b);

// Those of `candidates`, three at most and nearest first, that `name` may be a slip for.
std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace forebay::store
