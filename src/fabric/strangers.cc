#include "fabric/strangers.h"

#include <algorithm>

namespace forebay::fabric {

std::optional<Strangers::Id> Strangers::oldest_of(const std::string& source) const {
  const auto found = std::ranges::find(all_, source, [](const auto& one) { return one.second.source; });
  if (found == all_.end()) return std::nullopt;
  return found->first;
}

std::optional<Strangers::Id> Strangers::in_the_way_of(const std::string& source) const {
  const auto own = counts_.find(source);
  if (own != counts_.end() && own->second >= limits_.of_source) return oldest_of(source);
  if (all_.size() < limits_.all) return std::nullopt;
  const auto most = std::ranges::max_element(counts_, {}, [](const auto& one) { return one.second; });
  return oldest_of(most->first);
}

void Strangers::add(Id id, const std::string& source, Time deadline) {
  if (all_.emplace(id, Stranger{source, deadline}).second) ++counts_[source];
}

void Strangers::remove(Id id) {
  const auto found = all_.find(id);
  if (found == all_.end()) return;
  const auto count = counts_.find(found->second.source);
  if (--count->second == 0) counts_.erase(count);
  all_.erase(found);
}

std::optional<Strangers::Id> Strangers::late(Time now) const {
  if (all_.empty() || now < all_.begin()->second.deadline) return std::nullopt;
  return all_.begin()->first;
}

Strangers::Time Strangers::next_deadline() const { return all_.empty() ? Time::max() : all_.begin()->second.deadline; }

}  // namespace forebay::fabric
