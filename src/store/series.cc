#include "store/series.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"

namespace forebay::store {

bool is_series_name(std::string_view name) {
  constexpr size_t kMost = 100;
  return name.size() <= kMost && is_set_name(name);
}

Result<void> check_series_name(std::string_view name) {
  if (is_series_name(name)) return {};
  return fail(ErrorKind::invalid_argument, fmt::format("'{}' cannot be the name of a series", name), {}, {},
              "use at most 100 letters, digits and ._-+=@, without a dot in front; 'latest' is taken");
}

std::vector<std::string> series_in(std::span<const SetInfo> sets) {
  std::set<std::string> names;
  for (const SetInfo& set : sets)
    if (set.manifest) names.insert(set.manifest->origin.series);
  return {names.begin(), names.end()};
}

std::vector<SetInfo> of_series(std::span<const SetInfo> sets, std::string_view series) {
  std::vector<SetInfo> own;
  std::ranges::copy_if(sets, std::back_inserter(own),
                       [&](const SetInfo& set) { return !set.manifest || set.manifest->origin.series == series; });
  return own;
}

Result<std::string> choose_series(std::span<const SetInfo> sets, std::string_view wanted, const std::string& path) {
  const auto names = series_in(sets);
  if (wanted.empty()) {
    if (names.size() <= 1) return names.empty() ? std::string(kDefaultSeries) : names[0];
    return fail(ErrorKind::invalid_argument,
                fmt::format("the store has sets of {} series: {}", names.size(), describe_series(sets)), path, {},
                "choose one with --series NAME");
  }
  if (names.empty() || std::ranges::find(names, wanted) != names.end()) return std::string(wanted);
  const auto near = nearest_names(wanted, names);
  return fail(ErrorKind::not_found,
              fmt::format("the store has no set of the series '{}', only of {}", wanted, describe_series(sets)), path,
              {}, near.empty() ? "see 'forebay ls STORE'" : fmt::format("did you mean {}?", fmt::join(near, " or ")));
}

std::string describe_series(std::span<const SetInfo> sets, std::string_view except) {
  constexpr size_t kMost = 8;
  struct One {
    size_t sets = 0;
    const SetInfo* newest = nullptr;
  };
  std::map<std::string_view, One> all;
  for (const SetInfo& set : sets) {
    if (!set.manifest || set.manifest->origin.series == except) continue;
    One& one = all[set.manifest->origin.series];
    ++one.sets;
    one.newest = &set;
  }
  std::string text;
  size_t told = 0;
  for (const auto& [name, one] : all) {
    if (told++ == kMost) return fmt::format("{} and {} more", text, all.size() - kMost);
    text += fmt::format("{}{} ({} set{}, the newest is {})", text.empty() ? "" : ", ", name, one.sets,
                        one.sets == 1 ? "" : "s", one.newest->name);
  }
  return text;
}

}  // namespace forebay::store
