#include "job/coordinator/steps.h"

#include <gtest/gtest.h>

namespace forebay::job {
namespace {

using namespace std::chrono_literals;

TEST(Steps, GivesEachStepWhatPassedSinceTheOneBefore) {
  Steps::Time now{};
  Steps steps(now);
  EXPECT_EQ(steps.text(), "");
  steps.end("stage", now += 250ms);
  steps.end("pack", now += 2s);
  EXPECT_EQ(steps.text(), "stage 0.2 s, pack 2.0 s");
  EXPECT_EQ(in_steps(steps), " (stage 0.2 s, pack 2.0 s)");
}

TEST(Steps, AddsUpWhatIsDoneAgain) {
  Steps::Time now{};
  Steps steps(now);
  steps.end("stage", now += 1s);
  steps.end("pack", now += 2s);
  steps.end("stage", now += 3s);
  ASSERT_EQ(steps.seconds().size(), 2u);
  EXPECT_EQ(steps.seconds()[0].first, "stage");
  EXPECT_DOUBLE_EQ(steps.seconds()[0].second, 4);
  EXPECT_DOUBLE_EQ(steps.seconds()[1].second, 2);
}

}  // namespace
}  // namespace forebay::job
