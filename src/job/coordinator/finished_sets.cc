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

const FinishedSet* FinishedSets::find(std::string_view name, uint64_t hash) const {
  for (auto set = sets_.rbegin(); set != sets_.rend(); ++set)
    if (set->name == name && std::ranges::binary_search(set->hashes, hash)) return &*set;
  return nullptr;
}

}  // namespace forebay::job
