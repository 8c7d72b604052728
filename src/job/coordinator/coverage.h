// Which ranks of a job are there, by how many that have them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace forebay::job {

// More ranks than any machine has; what a message says is believed up to here.
inline constexpr uint32_t kMaxRanks = 1 << 22;

class Coverage {
 public:
  // False: some of them were there already. Those that no machine has count for nothing.
  bool add(const std::vector<uint32_t>& ranks);
  void remove(const std::vector<uint32_t>& ranks);
  size_t size() const { return ranks_; }
  // "3, 5-7, ...": those below `total` that are not there, up to a few.
  std::string missing(uint32_t total) const;

 private:
  bool has(uint32_t rank) const { return rank < counts_.size() && counts_[rank] > 0; }

  std::vector<uint32_t> counts_;  // by rank: the parts that have it
  size_t ranks_ = 0;              // that any part has
};

}  // namespace forebay::job
