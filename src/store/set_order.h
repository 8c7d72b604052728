// Which of two checkpoint sets is the newer one, wherever they lie. Pure.
#pragma once

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

namespace forebay::store {

// Sets with a step are in the order of (step, time, tie), those without of (time, tie), and the two sequences are
// merged by (time, tie): comparing single pairs by step where both have one and by time where not would have cycles.
// key(set): tuple(step, time, tie), where `step` is a std::optional.
template <class Set, class Key>
void order_oldest_first(std::vector<Set>& sets, const Key& key) {
  std::vector<Set> stepped, timed;
  for (Set& set : sets) (std::get<0>(key(set)) ? stepped : timed).push_back(std::move(set));
  std::ranges::sort(stepped, {}, key);
  std::ranges::sort(timed, {}, key);
  const auto by_time = [&](const Set& set) {
    auto [step, time, tie] = key(set);
    return std::pair(std::move(time), std::move(tie));
  };
  sets.clear();
  auto next = timed.begin();
  for (Set& set : stepped) {
    while (next != timed.end() && by_time(*next) < by_time(set)) sets.push_back(std::move(*next++));
    sets.push_back(std::move(set));
  }
  std::move(next, timed.end(), std::back_inserter(sets));
}

}  // namespace forebay::store
