#include <algorithm>
#include <iterator>
#include <tuple>

#include "store/store.h"

namespace forebay::store {

void sort_oldest_first(std::vector<SetInfo>& sets) {
  std::vector<SetInfo> unreadable, stepped, timed;
  for (SetInfo& set : sets) {
    auto& part = !set.manifest ? unreadable : set.manifest->step ? stepped : timed;
    part.push_back(std::move(set));
  }
  const auto by_name = [](const SetInfo& set) { return set.name; };
  const auto by_time = [](const SetInfo& set) { return std::tuple(set.manifest->created_ns, set.name); };
  const auto by_step = [](const SetInfo& set) {
    return std::tuple(*set.manifest->step, set.manifest->created_ns, set.name);
  };
  std::ranges::sort(unreadable, {}, by_name);
  std::ranges::sort(stepped, {}, by_step);
  std::ranges::sort(timed, {}, by_time);

  sets = std::move(unreadable);
  auto next_timed = timed.begin();
  for (SetInfo& set : stepped) {
    while (next_timed != timed.end() && by_time(*next_timed) < by_time(set)) sets.push_back(std::move(*next_timed++));
    sets.push_back(std::move(set));
  }
  std::move(next_timed, timed.end(), std::back_inserter(sets));
}

static bool is_multiple(int64_t step, uint64_t of) {
  const uint64_t magnitude = step < 0 ? 0 - static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
  return of != 0 && magnitude % of == 0;
}

std::vector<std::string> to_prune(std::span<const SetInfo> sets, const Retention& retention,
                                  std::string_view newest_good) {
  if (std::ranges::find(sets, newest_good, &SetInfo::name) == sets.end()) return {};
  std::vector<std::string> pruned;
  uint64_t newer = 0;  // readable sets newer than `set`, from `newest_good` on
  bool is_counting = false;
  for (auto set = sets.rbegin(); set != sets.rend(); ++set) {
    is_counting = is_counting || set->name == newest_good;
    if (!set->manifest || !is_counting) continue;
    const bool is_milestone = set->manifest->step && is_multiple(*set->manifest->step, retention.keep_every);
    if (newer++ >= retention.keep_last && !is_milestone && set->name != newest_good) pruned.push_back(set->name);
  }
  std::ranges::reverse(pruned);
  return pruned;
}

}  // namespace forebay::store
