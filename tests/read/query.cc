// Prints what a query finds, a line each, by the C++ wrapper: all of the steps, or with a layout.
// Usage: query STORE QUERY FLAGS [LAYOUT]
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "forebay/forebay_read.hpp"

struct Enough {};

int main(int argc, char** argv) try {
  if (argc < 4) return 2;
  std::string layout;
  if (argc > 4) {
    std::ifstream file(argv[4]);
    layout.assign(std::istreambuf_iterator<char>(file), {});
  }
  forebay_read_options options = forebay::read_options();
  if (argc > 4) options.layout = layout.c_str();
  const forebay::ReadRun run(argv[1], options);
  const auto flags = static_cast<unsigned>(std::atoi(argv[3]));
  const std::vector<forebay::ReadMatch> matches = run.query(argv[2], flags);
  for (const forebay::ReadMatch& match : matches) {
    std::printf("%d %s", static_cast<int>(match.number), match.set.c_str());
    for (std::size_t d = 0; d < match.begin.size(); ++d)
      std::printf(" %d+%d", static_cast<int>(match.begin[d]), static_cast<int>(match.count[d]));
    for (const double value : match.values) std::printf(" %.17g", value);
    std::printf("\n");
  }
  std::size_t told = 0, visited = 0;
  const auto summary = run.query(argv[2], [&](const forebay_read_match&) { ++told; }, flags);
  if (told != matches.size() || summary.steps != run.steps()) return 4;
  if (told == 0) return 0;
  try {
    run.query(
        argv[2],
        [&](const forebay_read_match&) {
          ++visited;
          throw Enough();
        },
        flags);
    return 5;
  } catch (const Enough&) {
    return visited == 1 ? 0 : 6;
  }
} catch (const forebay::CallError& error) {
  std::printf("code %d: %s\n", error.code(), error.what());
  return 0;
}
