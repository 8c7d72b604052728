#include "store/series.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <ranges>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "store/names.h"
#include "store/natural_order.h"

namespace forebay::store {

bool is_series_name(std::string_view name) {
  constexpr size_t kMost = 100;
  return name.size() <= kMost && is_set_name(name) && std::ranges::all_of(name, is_plain);
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

uint64_t newest_place(std::span<const SetInfo> sets, std::string_view series) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max() - 1;  // so that there is a next one
  uint64_t newest = 0, without = 0;
  for (const SetInfo& set : sets) {
    if (!set.manifest || set.manifest->origin.series != series) continue;
    newest = std::max(newest, std::min(set.manifest->ordinal, kMost));
    if (set.manifest->ordinal == 0) ++without;
  }
  return std::max(newest, without);
}

static constexpr std::string_view kStepWord = "step:";

bool asks_for_step(std::string_view word) { return word.starts_with(kStepWord); }

Result<std::string> find_step(std::span<const SetInfo> sets, std::string_view word, const std::string& path) {
  const std::string_view text = word.substr(std::min(word.size(), kStepWord.size()));
  int64_t step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size())
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no step: step:NUMBER is", word));
  for (const SetInfo& set : sets | std::views::reverse)
    if (set.manifest && set.manifest->step == step) return set.name;
  return fail(ErrorKind::not_found, fmt::format("no set that can be read has the step {}", step), path, {},
              "`forebay ls STORE` lists the sets with their steps");
}

const SetInfo* newest_of(std::span<const SetInfo> sets, std::string_view series) {
  for (const SetInfo& set : sets | std::views::reverse)
    if (set.manifest && set.manifest->origin.series == series) return &set;
  return nullptr;
}

std::string why_older(std::string_view name, std::optional<int64_t> step, const Manifest& newest) {
  const std::string other = application_name(newest);
  const bool have_steps = step && newest.step && (step != step_of(name) || newest.step != step_of(other));
  if (have_steps ? *step >= *newest.step : !is_before(name, other)) return {};
  const std::string what = have_steps ? fmt::format("its step {} lies below {}, that of", *step, *newest.step)
                                      : "its name lies below that of";
  return fmt::format("{} is the newest set of the series {} now, but {} the one before, {}: another run? (--series)",
                     name, newest.origin.series, what, newest.name);
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
