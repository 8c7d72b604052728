#include "job/coordinator/coverage.h"

#include <fmt/format.h>

namespace forebay::job {

bool Coverage::add(const std::vector<uint32_t>& ranks) {
  bool is_new = true;
  for (const uint32_t rank : ranks) {
    if (rank >= kMaxRanks) continue;
    if (rank >= counts_.size()) counts_.resize(size_t{rank} + 1);
    if (counts_[rank]++ == 0)
      ++ranks_;
    else
      is_new = false;
  }
  return is_new;
}

void Coverage::remove(const std::vector<uint32_t>& ranks) {
  for (const uint32_t rank : ranks)
    if (has(rank) && --counts_[rank] == 0) --ranks_;
}

std::string Coverage::missing(uint32_t total) const {
  constexpr int kMost = 10;
  std::string text;
  int ranges = 0;
  for (uint32_t rank = 0; rank < total; ++rank) {
    if (has(rank)) continue;
    if (ranges++ == kMost) return text + ", ...";
    const uint32_t first = rank;
    while (rank + 1 < total && !has(rank + 1)) ++rank;
    text += text.empty() ? "" : ", ";
    text += first == rank ? fmt::format("{}", first) : fmt::format("{}-{}", first, rank);
  }
  return text;
}

}  // namespace forebay::job
