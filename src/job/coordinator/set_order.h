// Which of two checkpoint sets is the newer one, as the store has it (store::sort_oldest_first). Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace forebay::job {

// Sets with a step are in the order of (step, time), those without of time, and the two sequences are merged by time.
// `Set` has step and time_ns; tie(set) decides between two that are alike in these.
template <class Set, class Tie>
void order_oldest_first(std::vector<Set>& sets, const Tie& tie) {
  std::vector<Set> with, without;
  for (Set& set : sets) (set.step ? with : without).push_back(std::move(set));
  std::ranges::sort(with, {}, [&](const Set& set) { return std::tuple(*set.step, set.time_ns, tie(set)); });
  std::ranges::sort(without, {}, [&](const Set& set) { return std::tuple(set.time_ns, tie(set)); });
  sets.clear();
  size_t next = 0;
  for (Set& set : without) {
    while (next < with.size() && with[next].time_ns < set.time_ns) sets.push_back(std::move(with[next++]));
    sets.push_back(std::move(set));
  }
  while (next < with.size()) sets.push_back(std::move(with[next++]));
}

}  // namespace forebay::job
