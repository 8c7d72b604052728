#include "job/plan/ways.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace forebay::job {
namespace {

WaysInput sample_ways() {
  WaysInput input;
  input.plan.nodes = 512;
  input.plan.node_bytes = 48e9;
  input.plan.interval = 3600;
  input.plan.node_network = 10e9;
  input.plan.pfs = 50e9;
  input.plan.network = 10e9;
  input.aggregator_nodes = 16;
  input.node_mtbf = 3 * 365 * 86400.0;
  input.stage = 5e9;
  input.peers = 10e9;
  return input;
}

const Way& way_of(const std::vector<Way>& ways, Way::Kind kind, const std::string& scheme) {
  return *std::ranges::find_if(ways, [&](const Way& way) { return way.kind == kind && way.scheme == scheme; });
}

TEST(Ways, CostWhatIsWrittenAndSent) {
  const auto ways = compare_ways(sample_ways());
  ASSERT_EQ(ways.size(), 9u);
  EXPECT_NEAR(ways[0].cost, 512 * 48e9 / 50e9, 1e-6);
  EXPECT_NEAR(way_of(ways, Way::Kind::waiting, "none").cost, 9.6, 1e-6);
  EXPECT_NEAR(way_of(ways, Way::Kind::waiting, "partner").cost, 9.6 + 4.8, 1e-6);
  EXPECT_NEAR(way_of(ways, Way::Kind::waiting, "xor:8").cost, 9.6 + 4.8, 1e-6);
  EXPECT_NEAR(way_of(ways, Way::Kind::waiting, "rs:2:8").cost, 9.6 + 4.8 * 7 / 6, 1e-6);
}

TEST(Ways, ThatProtectAndDrainMeanwhileAreBetter) {
  const auto ways = compare_ways(sample_ways());
  const Way& waiting = way_of(ways, Way::Kind::waiting, "xor:8");
  const Way& background = way_of(ways, Way::Kind::background, "xor:8");
  EXPECT_GT(waiting.advice.efficiency, ways[0].advice.efficiency);
  EXPECT_GT(background.advice.efficiency, waiting.advice.efficiency);
  EXPECT_EQ(way_of(ways, Way::Kind::waiting, "none").survived, 0);  // a lost node is a lost set
  EXPECT_NEAR(background.survived, .85, .001);
  EXPECT_GT(way_of(ways, Way::Kind::background, "rs:2:8").survived, background.survived);
  EXPECT_LE(way_of(ways, Way::Kind::background, "rs:2:8").survived, .85);
}

TEST(Ways, OfFewNodesHaveNoLargeGroups) {
  WaysInput input = sample_ways();
  input.plan.nodes = 4;
  EXPECT_EQ(compare_ways(input).size(), 5u);
}

TEST(Ways, NeedToKnowWhatTheyCost) {
  EXPECT_TRUE(check(sample_ways()));
  for (double WaysInput::* missing : {&WaysInput::stage, &WaysInput::peers}) {
    WaysInput input = sample_ways();
    input.*missing = kUnlimited;
    EXPECT_EQ(check(input).error().kind, ErrorKind::invalid_argument);
  }
  WaysInput input = sample_ways();
  input.plan.pfs = input.plan.node_network = kUnlimited;
  EXPECT_FALSE(check(input));
  input = sample_ways();
  input.node_mtbf = 0;
  EXPECT_FALSE(check(input));
}

}  // namespace
}  // namespace forebay::job
