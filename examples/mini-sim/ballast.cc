#include "ballast.h"

#include <cmath>

namespace mini_sim {

std::vector<double> make_ballast(int rank, int dump, int part, int64_t size) {
  constexpr double kNoise = 1e-6, kRange = 4294967296.0;
  const double phase = 0.7 * rank + 0.05 * dump, angle = 1e-3 * (part % 7 + 1);
  const double turn_cos = std::cos(angle), turn_sin = std::sin(angle);
  double x = std::cos(phase), y = std::sin(phase);
  uint64_t random = 88172645463325252 + static_cast<uint64_t>(rank) * 1'000'003 + static_cast<uint64_t>(dump) * 10'007 +
                    static_cast<uint64_t>(part);
  std::vector<double> values(static_cast<size_t>(size));
  for (double& value : values) {
    const double next = x * turn_cos - y * turn_sin;
    y = x * turn_sin + y * turn_cos;
    x = next;
    // MMIX's linear congruential generator (D. E. Knuth, The Art of Computer Programming, volume 2, section 3.3.4)
    random = random * 6364136223846793005 + 1442695040888963407;
    value = 2 + x + kNoise * static_cast<double>(random >> 32) / kRange;
  }
  return values;
}

}  // namespace mini_sim
