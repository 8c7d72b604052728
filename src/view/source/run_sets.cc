#include "view/source/run_sets.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace forebay::view {

std::vector<RunSet> steps_of_series(std::vector<RunSet> sets, const std::string& series) {
  std::vector<store::SetInfo> order;  // of those that are known, as if all could be read
  std::map<std::string, RunSet> known;
  std::vector<RunSet> unknown;
  for (RunSet& set : sets) {
    const store::Manifest* const manifest = set.known();
    if (manifest == nullptr) {
      unknown.push_back(std::move(set));
      continue;
    }
    if (manifest->origin.series != series) continue;
    order.push_back({set.info.name, {}, *manifest});
    known.emplace(set.info.name, std::move(set));
  }
  store::sort_oldest_first(order);
  std::vector<RunSet> steps;
  for (const store::SetInfo& set : order) steps.push_back(std::move(known.at(set.name)));
  std::ranges::sort(unknown, {}, [](const RunSet& set) { return std::pair(set.written_ns, set.info.name); });
  // From the newest on, so that those with one place stay in their order.
  for (auto set = unknown.rbegin(); set != unknown.rend(); ++set) {
    const auto is_older = [&](const RunSet& step) {
      return set->written_ns && step.known() != nullptr && step.known()->created_ns <= *set->written_ns;
    };
    const auto before = std::find_if(steps.rbegin(), steps.rend(), is_older);
    steps.insert(before.base(), std::move(*set));
  }
  return steps;
}

}  // namespace forebay::view
