#include "store/names.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "store/store.h"

namespace forebay::store {

bool is_set_name(std::string_view name) {
  constexpr size_t kMost = 200;
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-+=@,").find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= kMost && name.front() != '.' && name != "latest" &&
         std::ranges::all_of(name, is_allowed);
}

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

std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr size_t kMostNames = 3, kLongest = 200;
  const size_t most_edits = std::max<size_t>(2, name.size() / 3);
  if (name.size() > kLongest) return {};
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& candidate : candidates)
    if (const size_t distance = edit_distance(name, candidate); distance <= most_edits)
      near.emplace_back(distance, candidate);
  std::ranges::sort(near);
  std::vector<std::string> names;
  for (auto& [distance, candidate] : near)
    if (names.size() < kMostNames) names.push_back(std::move(candidate));
  return names;
}

}  // namespace forebay::store
