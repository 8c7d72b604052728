#include "job/plan/plan_model.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay::job {
namespace {

constexpr double kMega = 1e6, kGiga = 1e9;

// The machine of paper 003, section 4: 12 processes of 200 MB on each compute node, a checkpoint every 250 s, and one
// transfer node with a buffer of 20 GB, into which 605 MB/s came from 32 compute nodes and 458 MB/s from 64.
PlanInput sierra(uint64_t nodes, double measured_rate) {
  return {.nodes = nodes,
          .node_bytes = 12 * 200 * kMega,
          .interval = 250,
          .pfs_stream = measured_rate,
          .buffer = 20 * kGiga,
          .margin = 0};
}

TEST(PlanModel, PaperWith32NodesFits) {
  const PlanRow row = plan_drain(sierra(32, 605 * kMega), 1);
  EXPECT_NEAR(row.drain_seconds, 76.8e9 / 605e6, 1e-9);  // 127 s
  EXPECT_TRUE(row.fits);
  EXPECT_EQ(row.stored_every, 1u);
  EXPECT_EQ(fewest_aggregator_nodes(sierra(32, 605 * kMega)), 1u);
}

TEST(PlanModel, PaperWith64NodesDoesNotFitAndTwoTransferNodesAreNeeded) {
  const PlanInput input = sierra(64, 458 * kMega);
  const PlanRow row = plan_drain(input, 1);
  EXPECT_NEAR(row.drain_seconds, 335, 1);  // the paper: "about 335 seconds"
  EXPECT_FALSE(row.fits);
  EXPECT_EQ(row.stored_every, 2u);
  EXPECT_EQ(row.limit, PlanLimit::pfs_stream);
  EXPECT_EQ(fewest_aggregator_nodes(input), 2u);
}

TEST(PlanModel, PaperHoldsWithAMargin) {
  PlanInput small = sierra(32, 605 * kMega), large = sierra(64, 458 * kMega);
  small.margin = large.margin = 0.2;
  EXPECT_EQ(fewest_aggregator_nodes(small), 1u);
  EXPECT_EQ(fewest_aggregator_nodes(large), 2u);
}

PlanInput fast() {
  return {.nodes = 10, .node_bytes = kGiga, .interval = 100, .margin = 0};  // 10 GB, with no rate
}

TEST(PlanModel, NamesTheSlowestStage) {
  PlanInput input = fast();
  input.node_network = 0.5 * kGiga;
  EXPECT_EQ(plan_drain(input, 1).limit, PlanLimit::node_network);
  EXPECT_DOUBLE_EQ(plan_drain(input, 1).drain_seconds, 2);
  input.network = kGiga;
  EXPECT_EQ(plan_drain(input, 2).limit, PlanLimit::network);
  EXPECT_DOUBLE_EQ(plan_drain(input, 2).drain_seconds, 5);
  input.codec = 0.5 * kGiga;
  EXPECT_EQ(plan_drain(input, 2).limit, PlanLimit::codec);
  EXPECT_DOUBLE_EQ(plan_drain(input, 2).drain_seconds, 10);
  input.ratio = 4;
  input.pfs_stream = 0.1 * kGiga;
  EXPECT_EQ(plan_drain(input, 2).limit, PlanLimit::pfs_stream);
  EXPECT_DOUBLE_EQ(plan_drain(input, 2).drain_seconds, 12.5);
  input.pfs = 0.1 * kGiga;
  EXPECT_EQ(plan_drain(input, 2).limit, PlanLimit::pfs);
  EXPECT_DOUBLE_EQ(plan_drain(input, 2).drain_seconds, 25);
}

TEST(PlanModel, CompressionSavesTransferNodesWhereTheFileSystemIsSlow) {
  PlanInput input = fast();
  input.pfs_stream = 0.02 * kGiga;
  EXPECT_EQ(fewest_aggregator_nodes(input), 5u);
  input.ratio = 2;
  EXPECT_EQ(fewest_aggregator_nodes(input), 3u);  // 2.5
  input.codec = 0.01 * kGiga;
  EXPECT_EQ(fewest_aggregator_nodes(input), 10u);
}

TEST(PlanModel, WhatIsSharedCannotBeBought) {
  PlanInput input = fast();
  input.codec = kGiga;
  input.pfs = 0.05 * kGiga;  // 200 s
  EXPECT_EQ(fewest_aggregator_nodes(input), std::nullopt);
  EXPECT_EQ(plan_drain(input, 1'000'000).stored_every, 2u);
  input.pfs = kUnlimited;
  input.node_network = 0.001 * kGiga;
  EXPECT_EQ(fewest_aggregator_nodes(input), std::nullopt);
}

TEST(PlanModel, TheSmallestNumberIsTheSmallest) {
  PlanInput input = fast();
  for (const uint64_t groups : {0, 1, 7, 64})
    for (double rate = 0.0003 * kGiga; rate < kGiga; rate *= 1.7) {
      input.codec = rate;
      input.groups = groups;
      const auto fewest = fewest_aggregator_nodes(input);
      if (!fewest) {
        EXPECT_FALSE(plan_drain(input, 1'000'000).fits);
        continue;
      }
      EXPECT_TRUE(plan_drain(input, *fewest).fits);
      EXPECT_TRUE(*fewest == 1 || !plan_drain(input, *fewest - 1).fits);
    }
}

TEST(PlanModel, AGroupIsNotShared) {
  PlanInput input = fast();
  input.codec = 0.1 * kGiga;
  input.groups = 4;
  EXPECT_DOUBLE_EQ(plan_drain(input, 1).drain_seconds, 100);
  EXPECT_DOUBLE_EQ(plan_drain(input, 2).drain_seconds, 50);
  EXPECT_DOUBLE_EQ(plan_drain(input, 3).drain_seconds, 50);  // one of the three has two groups
  EXPECT_DOUBLE_EQ(plan_drain(input, 4).drain_seconds, 25);
  EXPECT_DOUBLE_EQ(plan_drain(input, 9).drain_seconds, 25);
  input.interval = 20;
  EXPECT_EQ(fewest_aggregator_nodes(input), std::nullopt);
}

TEST(PlanModel, TheMarginIsKeptFree) {
  PlanInput input = fast();
  input.codec = 0.1 * kGiga;  // 100 s, to the second
  EXPECT_TRUE(plan_drain(input, 1).fits);
  input.margin = 0.01;
  EXPECT_FALSE(plan_drain(input, 1).fits);
}

TEST(PlanModel, BuffersFreeTheComputeNodesEarlier) {
  PlanInput input = fast();
  input.network = 2 * kGiga;   // 5 s
  input.codec = 0.25 * kGiga;  // 40 s
  EXPECT_DOUBLE_EQ(plan_drain(input, 1).pull_seconds, 40);
  input.buffer = kGiga;  // when the last byte comes in, 9 GB have gone out
  EXPECT_DOUBLE_EQ(plan_drain(input, 1).pull_seconds, 36);
  EXPECT_DOUBLE_EQ(plan_drain(input, 1).drain_seconds, 40);
  EXPECT_DOUBLE_EQ(plan_drain(input, 2).pull_seconds, 16);
  input.buffer = 100 * kGiga;
  EXPECT_DOUBLE_EQ(plan_drain(input, 1).pull_seconds, 5);
}

TEST(PlanModel, TheBufferFillsAsInASimulation) {
  PlanInput input = sierra(32, 605 * kMega);
  input.network = 2 * kGiga;
  constexpr double kStep = 0.001;
  double in = 0, out = 0, seconds = 0;
  for (; in < input.set_bytes(); seconds += kStep) {
    out = std::min(in, out + input.pfs_stream * kStep);
    in = std::min({input.set_bytes(), in + input.network * kStep, out + input.buffer});
  }
  EXPECT_NEAR(plan_drain(input, 1).pull_seconds, seconds, 0.1);
}

TEST(PlanModel, ShowsTheNeighbourhoodOfTheAnswer) {
  PlanInput input = fast();
  input.codec = 0.1 * kGiga;
  EXPECT_THAT(numbers_to_show(input), testing::ElementsAre(1, 2));
  input.codec = 0.01 * kGiga;
  EXPECT_THAT(numbers_to_show(input), testing::ElementsAre(1, 2, 4, 8, 9, 10, 11, 20));
  input.pfs = 0.05 * kGiga;
  input.codec = 0.02 * kGiga;
  EXPECT_THAT(numbers_to_show(input), testing::ElementsAre(1, 2, 4));
  input.pfs = kUnlimited;
  input.groups = 3;
  input.interval = 1;
  EXPECT_THAT(numbers_to_show(input), testing::ElementsAre(1, 2, 4));
}

TEST(PlanModel, RefusesNonsense) {
  PlanInput good = fast();
  good.pfs = kGiga;
  EXPECT_TRUE(check(good));
  EXPECT_FALSE(check(fast()));  // no rate
  for (const auto& spoil : std::initializer_list<void (*)(PlanInput&)>{
           [](PlanInput& input) { input.nodes = 0; }, [](PlanInput& input) { input.node_bytes = 0; },
           [](PlanInput& input) { input.interval = 0; }, [](PlanInput& input) { input.ratio = 0; },
           [](PlanInput& input) { input.codec = -1; }, [](PlanInput& input) { input.margin = 1; },
           [](PlanInput& input) { input.pfs = std::nan(""); }}) {
    PlanInput bad = good;
    spoil(bad);
    EXPECT_FALSE(check(bad));
  }
}

TEST(PlanModel, HugeNumbersStayNumbers) {
  PlanInput input{.nodes = 1'000'000'000, .node_bytes = 1e18, .interval = 1e-3, .pfs = 1e-300, .margin = 0};
  const PlanRow row = plan_drain(input, 1);
  EXPECT_EQ(row.stored_every, 1'000'000'000'000'000'000u);
  EXPECT_EQ(fewest_aggregator_nodes(input), std::nullopt);
  EXPECT_THAT(numbers_to_show(input), testing::SizeIs(1));
}

}  // namespace
}  // namespace forebay::job
