#include "job/coordinator/coverage.h"

#include <gtest/gtest.h>

namespace forebay::job {
namespace {

TEST(Coverage, NamesWhatIsMissing) {
  Coverage coverage;
  coverage.add({0, 3, 4, 9});
  coverage.add({3});
  EXPECT_EQ(coverage.missing(10), "1-2, 5-8");
  coverage.remove({3, 4});
  EXPECT_EQ(coverage.size(), 3u);
  EXPECT_EQ(coverage.missing(10), "1-2, 4-8");
  EXPECT_EQ(coverage.missing(12), "1-2, 4-8, 10-11");
  std::vector<uint32_t> even;
  for (uint32_t rank = 0; rank < 100; rank += 2) even.push_back(rank);
  Coverage holes;
  holes.add(even);
  EXPECT_EQ(holes.missing(100), "1, 3, 5, 7, 9, 11, 13, 15, 17, 19, ...");
}

}  // namespace
}  // namespace forebay::job
