// Prints the sum of an array in each step, and of those that are added, until there are so many.
// Usage: follow STORE NAME STEPS
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "forebay/forebay_read.hpp"

int main(int argc, char** argv) try {
  if (argc != 4) return 2;
  forebay::ReadRun run(argv[1]);
  const std::uint64_t wanted = std::strtoull(argv[3], nullptr, 10);
  for (std::uint64_t i = 0; i < wanted; ++i) {
    if (!run.follow(i, 60000)) return 3;
    const forebay::ReadStep step = run.step(static_cast<std::int64_t>(i));
    const std::vector<double> values = step.read<double>(argv[2]);
    std::vector<double> block, points;
    forebay::ReadPlan plan;
    plan.add_block(step, argv[2], 0, block);
    plan.add_points(step, argv[2], {0, 0, 0, 11, 9, 7}, points);
    plan.perform();
    if (points[0] != values.front() || points[1] != values.back() || block[0] != values[0] || plan.holes(0) != 0)
      return 4;
    std::printf("%s %.17g\n", step.info().set, std::accumulate(values.begin(), values.end(), 0.0));
    std::fflush(stdout);
  }
  int errors = 0;
  const forebay::ReadStep last = run.step(-1);
  try {
    last.read<float>(argv[2]);
  } catch (const forebay::CallError& error) {
    errors += error.code() == FOREBAY_ARGUMENT;
  }
  try {
    last.read<double>(argv[2], {{0, 0, 0}, {13, 1, 1}, {}});
  } catch (const forebay::CallError& error) {
    errors += error.code() == FOREBAY_ARGUMENT;
  }
  try {
    last.read<double>("none");
  } catch (const forebay::CallError& error) {
    errors += error.code() == FOREBAY_NOT_FOUND;
  }
  return errors == 3 ? 0 : 5;
} catch (const forebay::CallError& error) {
  std::fprintf(stderr, "%d: %s\n", error.code(), error.what());
  return 1;
}
