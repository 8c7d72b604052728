// What a mistyped word may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forebay {

// The Levenshtein distance: how many characters must be inserted, removed or replaced to turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b);

// Those of `candidates`, three at most and nearest first, that `name` may be a slip for.
std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> candidates);

// The same as a hint for an error, "did you mean run1 or run2?"; `otherwise` if nothing is near.
std::string nearest_hint(std::string_view name, std::span<const std::string> candidates, std::string otherwise);

}  // namespace forebay
