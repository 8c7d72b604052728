// Which ranks of a job are there, by how many that have them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace forebay::job {

// More ranks than any machine has; what a message says is believed up to here.
inline constexpr uint32_t kMaxRanks = 1 << 22;

class Coverage {
 public:
  void add(const std::vector<uint32_t>& ranks);
  void remove(const std::vector<uint32_t>& ranks);
  size_t size() const { return counts_.size(); }
  // "3, 5-7, ...": those below `total` that are not there, up to a few.
  std::string missing(uint32_t total) const;

 private:
  std::unordered_map<uint32_t, uint32_t> counts_;
};

}  // namespace forebay::job
