#include "redundancy/survival.h"

#include <bit>
#include <vector>

#include <gtest/gtest.h>

namespace forebay::redundancy {
namespace {

double loss_of(unsigned nodes, unsigned group, unsigned losses, unsigned failed) {
  return loss_probability(std::vector<unsigned>(nodes / group, group), losses, failed);
}

TEST(LossProbability, IsThatOfAllWaysToLoseNodes) {
  const std::vector<unsigned> groups{4, 3, 5};
  for (unsigned losses = 1; losses <= 2; ++losses)
    for (unsigned failed = 0; failed <= 12; ++failed) {
      unsigned all = 0, lost = 0;
      for (unsigned set = 0; set < 1u << 12; ++set) {
        if (std::popcount(set) != static_cast<int>(failed)) continue;
        ++all;
        unsigned at = 0;
        bool is_lost = false;
        for (const unsigned members : groups) {
          is_lost |= std::popcount(set >> at & ((1u << members) - 1)) > static_cast<int>(losses);
          at += members;
        }
        lost += is_lost;
      }
      EXPECT_NEAR(loss_probability(groups, losses, failed), static_cast<double>(lost) / all, 1e-12);
    }
  EXPECT_EQ(loss_probability(groups, 1, 13), 1);
}

// Figures that were computed by another program.
TEST(LossProbability, IsWhatIsKnownOfUsualGroups) {
  EXPECT_NEAR(loss_of(64, 2, 1, 2), .016, .0005);
  EXPECT_NEAR(loss_of(64, 2, 1, 8), .39, .005);
  EXPECT_NEAR(loss_of(64, 8, 1, 3), .31, .005);
  EXPECT_NEAR(loss_of(64, 8, 2, 4), .040, .0005);
  EXPECT_NEAR(loss_of(64, 8, 3, 4), 8.8e-4, 5e-6);
  EXPECT_NEAR(loss_of(1024, 2, 1, 4), 5.9e-3, 5e-5);
  EXPECT_NEAR(loss_of(1024, 8, 2, 4), 1.6e-4, 5e-6);
  EXPECT_NEAR(loss_of(1024, 8, 3, 4), 2.0e-7, 5e-9);
}

}  // namespace
}  // namespace forebay::redundancy
