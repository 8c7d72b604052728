#include "job/coordinator/finished_sets.h"

#include <algorithm>
#include <utility>

namespace forebay::job {
namespace {

constexpr size_t kMost = 256;

}  // namespace

void FinishedSets::add(FinishedSet set) {
  std::ranges::sort(set.hashes);
  sets_.push_back(std::move(set));
  if (sets_.size() > kMost) sets_.pop_front();
}

const FinishedSet* FinishedSets::find(std::string_view name, uint64_t hash, uint64_t write) const {
  const auto is_it = [&](const FinishedSet& set) {
    if (set.name != name) return false;
    const bool has_failed = set.state == wire::SetState::failed && write != 0 && set.write == write;
    return has_failed || std::ranges::binary_search(set.hashes, hash);
  };
  const auto found = std::find_if(sets_.rbegin(), sets_.rend(), is_it);
  return found == sets_.rend() ? nullptr : &*found;
}

}  // namespace forebay::job
