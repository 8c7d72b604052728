#include "job/coordinator/coverage.h"

#include <fmt/format.h>

namespace forebay::job {

void Coverage::add(const std::vector<uint32_t>& ranks) {
  for (const uint32_t rank : ranks) ++counts_[rank];
}

void Coverage::remove(const std::vector<uint32_t>& ranks) {
  for (const uint32_t rank : ranks) {
    const auto found = counts_.find(rank);
    if (found != counts_.end() && --found->second == 0) counts_.erase(found);
  }
}

std::string Coverage::missing(uint32_t total) const {
  constexpr int kMost = 10;
  std::string text;
  int ranges = 0;
  for (uint32_t rank = 0; rank < total; ++rank) {
    if (counts_.contains(rank)) continue;
    if (ranges++ == kMost) return text + ", ...";
    const uint32_t first = rank;
    while (rank + 1 < total && !counts_.contains(rank + 1)) ++rank;
    text += text.empty() ? "" : ", ";
    text += first == rank ? fmt::format("{}", first) : fmt::format("{}-{}", first, rank);
  }
  return text;
}

}  // namespace forebay::job
