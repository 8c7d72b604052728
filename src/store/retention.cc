#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "store/store.h"

namespace forebay::store {

void sort_oldest_first(std::vector<SetInfo>& sets) {
  std::vector<SetInfo> unreadable, readable;
  for (SetInfo& set : sets) (set.manifest ? readable : unreadable).push_back(std::move(set));
  std::ranges::sort(unreadable, {}, &SetInfo::name);
  std::ranges::sort(readable, {}, [](const SetInfo& set) { return std::tuple(set.manifest->age(), set.name); });
  // To merge the series, each set counts as created when it was, or when one before it in its series was, if that is
  // later.
  std::map<std::string, int64_t> latest;
  std::vector<std::pair<int64_t, size_t>> places;
  for (size_t i = 0; i < readable.size(); ++i) {
    const Manifest& manifest = *readable[i].manifest;
    int64_t& time = latest.try_emplace(manifest.origin.series, manifest.created_ns).first->second;
    time = std::max(time, manifest.created_ns);
    places.emplace_back(time, i);
  }
  std::ranges::sort(places);
  sets = std::move(unreadable);
  for (const auto& [time, i] : places) sets.push_back(std::move(readable[i]));
}

static bool is_multiple(int64_t step, uint64_t of) {
  const uint64_t magnitude = step < 0 ? 0 - static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
  return of != 0 && magnitude % of == 0;
}

// Takes the parents of what stays away from `plan.removed`, and their parents.
static void spare_parents(std::span<const SetInfo> sets, std::span<const Manifest> others, PrunePlan& plan) {
  std::unordered_map<std::string_view, const Manifest*> going;
  std::vector<const Manifest*> staying;
  for (const Manifest& other : others) staying.push_back(&other);
  const std::unordered_set<std::string_view> removed(plan.removed.begin(), plan.removed.end());
  for (const SetInfo& set : sets) {
    if (!set.manifest) continue;
    if (!removed.contains(set.name))
      staying.push_back(&*set.manifest);
    else
      going.emplace(set.name, &*set.manifest);
  }
  for (size_t i = 0; i < staying.size(); ++i)  // grows
    for (const ParentEntry& parent : staying[i]->parents) {
      const auto found = going.find(parent.name);
      if (found == going.end() || found->second->created_ns != parent.created_ns) continue;
      plan.needed.push_back({parent.name, staying[i]->name});
      staying.push_back(found->second);
      going.erase(found);
    }
  std::erase_if(plan.removed, [&](const std::string& name) { return !going.contains(name); });
}

// Kahn's topological sort: whatever kill stops a removal, no set is without its parents. Those of a circle, which only
// a forger makes, come last.
static void put_sets_before_their_parents(std::span<const SetInfo> sets, std::vector<std::string>& names) {
  std::unordered_map<std::string_view, size_t> places;
  for (size_t i = 0; i < names.size(); ++i) places.emplace(names[i], i);
  std::vector<std::vector<size_t>> parents(names.size());
  std::vector<size_t> referrers(names.size(), 0);
  for (const SetInfo& set : sets) {
    const auto place = places.find(set.name);
    if (place == places.end() || !set.manifest) continue;
    for (const ParentEntry& parent : set.manifest->parents)
      if (const auto to = places.find(parent.name); to != places.end()) {
        parents[place->second].push_back(to->second);
        ++referrers[to->second];
      }
  }
  std::set<size_t> ready, left;
  for (size_t i = 0; i < names.size(); ++i) (referrers[i] == 0 ? ready : left).insert(i);
  std::vector<std::string> sorted;
  while (!ready.empty() || !left.empty()) {
    auto& from = ready.empty() ? left : ready;
    const size_t next = *from.begin();
    from.erase(from.begin());
    sorted.push_back(names[next]);
    for (const size_t parent : parents[next])
      if (--referrers[parent] == 0 && left.erase(parent) != 0) ready.insert(parent);
  }
  names = std::move(sorted);
}

PrunePlan to_prune(std::span<const SetInfo> sets, const Retention& retention, std::string_view newest_good,
                   std::span<const Manifest> others) {
  PrunePlan plan;
  if (std::ranges::find(sets, newest_good, &SetInfo::name) == sets.end()) return plan;
  uint64_t newer = 0;  // readable sets newer than `set`, from `newest_good` on
  bool is_counting = false;
  for (auto set = sets.rbegin(); set != sets.rend(); ++set) {
    is_counting = is_counting || set->name == newest_good;
    if (!set->manifest || !is_counting) continue;
    const bool is_milestone = set->manifest->step && is_multiple(*set->manifest->step, retention.keep_every);
    const bool is_beyond = newer >= retention.keep_last;
    if (!set->refused) ++newer;  // no restart takes one that was set aside
    if (is_beyond && !is_milestone && set->name != newest_good) plan.removed.push_back(set->name);
  }
  std::ranges::reverse(plan.removed);
  spare_parents(sets, others, plan);
  put_sets_before_their_parents(sets, plan.removed);
  return plan;
}

}  // namespace forebay::store
