#include "work.h"

#include <algorithm>
#include <vector>

#include <mpi.h>

#include "block.h"

namespace mini_sim {

void work(int64_t units) {
  constexpr int kUpdates = 100'000;
  // As large as a level 1 cache, so that whoever disturbs the caches is noticed as well.
  static std::vector<double> values(4096, 1.0);
  uint64_t random = 88172645463325252;
  for (int64_t i = 0; i < units * kUpdates; ++i) {
    // xorshift64 (G. Marsaglia, Xorshift RNGs, 2003)
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    double& value = values[random % values.size()];
    value = 0.5 * value + values[(random >> 32) % values.size()] * 0.5;
  }
  // A result that someone could look at, so that the compiler leaves the work in.
  [[maybe_unused]] static volatile double result;
  result = values[random % values.size()];
}

int64_t units_for(double seconds) {
  constexpr double kTrial = 0.5;
  work(1);
  const double start = MPI_Wtime();
  int64_t units = 0;
  double elapsed = 0;
  for (; elapsed < kTrial; elapsed = MPI_Wtime() - start) {
    work(1);
    ++units;
  }
  double per_second = static_cast<double>(units) / elapsed;
  std::vector<MPI_Request> request(1);
  MPI_Iallreduce(MPI_IN_PLACE, &per_second, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD, request.data());
  wait_all(request);
  return std::max<int64_t>(1, static_cast<int64_t>(per_second * seconds));
}

}  // namespace mini_sim
