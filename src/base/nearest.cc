#include "base/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace forebay {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> candidates) {
  constexpr size_t kMostNames = 3, kLongest = 200;
  const size_t most_edits = std::max<size_t>(2, name.size() / 3);
  if (name.size() > kLongest) return {};
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(name, candidate);
    const bool has_nothing_in_common = distance >= std::max(name.size(), candidate.size());
    if (distance <= most_edits && !has_nothing_in_common) near.emplace_back(distance, candidate);
  }
  std::ranges::sort(near);
  std::vector<std::string> names;
  for (auto& [distance, candidate] : near)
    if (names.size() < kMostNames) names.push_back(std::move(candidate));
  return names;
}

std::string nearest_hint(std::string_view name, std::span<const std::string> candidates, std::string otherwise) {
  const auto near = nearest_names(name, candidates);
  return near.empty() ? otherwise : fmt::format("did you mean {}?", fmt::join(near, " or "));
}

}  // namespace forebay
