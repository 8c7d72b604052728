#include "redundancy/survival.h"

#include <algorithm>
#include <vector>

namespace forebay::redundancy {

double loss_probability(std::span<const unsigned> group_sizes, unsigned losses, unsigned failed) {
  // survives[k]: of all ways to take k of the nodes so far, the part that no group minds.
  std::vector<double> survives(failed + 1, 0.0);
  survives[0] = 1;
  double before = 0;
  for (const unsigned members : group_sizes) {
    // Taking k of before + members nodes, j of them are of this group with the hypergeometric probability.
    std::vector<double> next(failed + 1, 0.0);
    const double all = before + members;
    for (unsigned k = 0; k <= failed && k <= all; ++k) {
      for (unsigned j = 0; j <= std::min({k, losses, members}); ++j) {
        double ways = 1;  // C(members, j) C(before, k - j) / C(all, k), factor by factor
        for (unsigned i = 0; i < j; ++i) ways *= (members - i) / (i + 1.0);
        for (unsigned i = 0; i < k - j; ++i) ways *= (before - i) / (i + 1.0);
        for (unsigned i = 0; i < k; ++i) ways *= (i + 1.0) / (all - i);
        next[k] += std::max(0.0, ways) * survives[k - j];
      }
    }
    survives = std::move(next);
    before = all;
  }
  return failed > before ? 1 : std::clamp(1 - survives[failed], 0.0, 1.0);
}

}  // namespace forebay::redundancy
