#include "job/plan/interval_model.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace forebay::job {
namespace {

// The figures are those of another program, and of simulations of 1.5e8 seconds of work.

TEST(OneLevel, HasTheIntervalsOfYoungAndDaly) {
  EXPECT_NEAR(young_interval(60, 3600), 657.2671, 1e-4);
  EXPECT_NEAR(daly_interval(60, 3600), 617.8756, 1e-4);
  EXPECT_NEAR(young_interval(10, 86400), 1314.5341, 1e-4);
  EXPECT_NEAR(daly_interval(10, 86400), 1307.8759, 1e-4);
  EXPECT_NEAR(young_interval(3000, 1000), 2449.4897, 1e-4);
  EXPECT_NEAR(daly_interval(3000, 1000), 1000, 1e-9);
}

TEST(OneLevel, IsTheSameAsSeveralOfWhichThereIsOne) {
  const double one = one_level_efficiency(600, 60, 3600, 120);
  EXPECT_NEAR(one, 0.801147, 1e-6);
  const std::vector<CheckpointLevel> levels{{.cost = 60, .rate = 1.0 / 3600, .recovery = 120}};
  EXPECT_NEAR(multilevel_efficiency(600, {}, levels, false), one, 1e-9);
}

TEST(SeveralLevels, LetTheUpperOnesEndTheLower) {
  EXPECT_EQ(level_pattern({}), std::vector<unsigned>{1});
  const std::array<unsigned, 2> counts{2, 3};
  EXPECT_EQ(level_pattern(counts), (std::vector<unsigned>{1, 2, 1, 2, 1, 3}));
}

struct Case {
  double work;
  std::vector<unsigned> counts;
  std::vector<CheckpointLevel> levels;
  double escalating, staying, simulated;
};

TEST(SeveralLevels, HaveTheEfficiencyThatIsKnown) {
  const Case cases[] = {
      {300, {10}, {{5, 1.0 / 20000, 10}, {120, 1.0 / 200000, 300}}, 0.930904, 0.930944, 0.9311},
      {300, {24}, {{2, 1.0 / 10000, 20}, {600, 1.0 / 100000, 900}}, 0.854516, 0.855330, 0.8551},
      {600, {4, 6}, {{1, 1.0 / 50000, 1}, {8, 1.0 / 30000, 20}, {240, 1.0 / 400000, 600}}, 0.914263, 0.914406, 0.9148},
      {3600, {2}, {{5, 1.0 / 3600, 60}, {120, 1.0 / 7200, 600}}, 0.229117, 0.232490, 0.2290},
  };
  for (const Case& one : cases) {
    EXPECT_NEAR(multilevel_efficiency(one.work, one.counts, one.levels), one.escalating, 1e-6);
    EXPECT_NEAR(multilevel_efficiency(one.work, one.counts, one.levels, false), one.staying, 1e-6);
    EXPECT_NEAR(one.escalating, one.simulated, 1e-3);
  }
}

TEST(Background, HasTheEfficiencyThatIsKnown) {
  const BackgroundDrain model{.work = 300,
                              .cost = 5,
                              .every = 10,
                              .drain = 200,
                              .slowdown = .01,
                              .cache = {.cost = 0, .rate = 1.0 / 20000, .recovery = 10},
                              .store = {.cost = 0, .rate = 1.0 / 200000, .recovery = 300}};
  EXPECT_NEAR(background_efficiency(model), 0.965018, 1e-6);
  BackgroundDrain slow = model;
  slow.drain = 20'000;  // the drain does not keep up: the application waits for it
  EXPECT_LT(background_efficiency(slow), 0.16);
  slow.cache.rate = 1;
  EXPECT_EQ(background_efficiency(slow), 0);
}

TEST(Advice, IsTheBestOfWhatIsNear) {
  const IntervalInput input{.cost = 5,
                            .flush = 300,
                            .drain = 400,
                            .slowdown = .02,
                            .cache_rate = 1.0 / 20000,
                            .store_rate = 1.0 / 120000,
                            .cache_recovery = 60,
                            .store_recovery = 600};
  const double mtbf = 1 / (input.cache_rate + input.store_rate);
  const IntervalAdvice one = best_one_level(input);
  EXPECT_NEAR(one.work, daly_interval(input.flush, mtbf), .01 * one.work);
  for (const double off : {.8, 1.25})
    EXPECT_GT(one.efficiency, one_level_efficiency(one.work * off, input.flush, mtbf, input.store_recovery));
  const IntervalAdvice two = best_two_levels(input);
  const std::array levels{CheckpointLevel{5, input.cache_rate, 60}, CheckpointLevel{305, input.store_rate, 600}};
  EXPECT_NEAR(two.efficiency, multilevel_efficiency(two.work, std::array{two.every}, levels), 1e-9);
  for (const double off : {.8, 1.25})
    for (const unsigned every : {two.every, 2 * two.every, std::max(1u, two.every / 2)})
      EXPECT_GT(two.efficiency, multilevel_efficiency(two.work * off, std::array{every}, levels));
  const IntervalAdvice background = best_background(input);
  EXPECT_GT(two.efficiency, one.efficiency);
  EXPECT_GT(background.efficiency, two.efficiency);
  EXPECT_LT(background.efficiency, 1);
}

TEST(Advice, WritesMoreOftenWhereMoreFails) {
  MeasuredRun run{.seconds = 86400, .failures = 4, .set_seconds = 10, .interval = 3600};
  const auto advice = advise(run);
  ASSERT_TRUE(advice);
  EXPECT_NEAR(advice->mtbf, 19200, 1);
  EXPECT_NEAR(advice->interval, daly_interval(10, 19200) + 10, 1e-6);
  EXPECT_GT(advice->best_efficiency, advice->efficiency);
  run.failures = 40;
  EXPECT_LT(advise(run)->interval, advice->interval);
  run.failures = 0;
  EXPECT_GT(advise(run)->interval, advice->interval);
  for (double* missing : {&run.seconds, &run.set_seconds, &run.interval}) {
    MeasuredRun without = run;
    *missing = 0;
    EXPECT_FALSE(advise(run));
    run = without;
  }
}

}  // namespace
}  // namespace forebay::job
