#include "job/coordinator/tally.h"

#include <gmock/gmock.h>

namespace forebay::job {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using wire::SetState;

wire::TallyT earlier(uint64_t generation, uint64_t durable, std::vector<std::string> latest) {
  wire::TallyT tally;
  tally.generation = generation;
  tally.durable = durable;
  tally.latest = std::move(latest);
  return tally;
}

TEST(Tally, CountsASetOnceHoweverOftenItEnds) {
  Tally tally(1);
  tally.ended(SetState::durable, "s1");
  tally.ended(SetState::durable, "s1");
  tally.ended(SetState::skipped, {});
  tally.ended(SetState::failed, {});
  tally.committed(100, 10);
  tally.restarted();
  const wire::TallyT total = tally.total();
  EXPECT_EQ(total.generation, 1u);
  EXPECT_EQ(total.durable, 1u);
  EXPECT_EQ(total.skipped, 1u);
  EXPECT_EQ(total.failed, 1u);
  EXPECT_EQ(total.restarts, 1u);
  EXPECT_EQ(total.raw_bytes, 100u);
  EXPECT_EQ(total.stored_bytes, 10u);
  EXPECT_THAT(total.latest, ElementsAre("s1"));
}

// In whatever order the news of the earlier coordinator and the sets themselves come.
TEST(Tally, WhatAnEarlierCoordinatorHasCountedIsNotCountedAgain) {
  Tally before(2), after(2);
  before.learn(earlier(1, 5, {"s4", "s5"}));
  before.ended(SetState::durable, "s5");
  before.ended(SetState::durable, "s6");
  after.ended(SetState::durable, "s5");
  after.ended(SetState::durable, "s6");
  after.learn(earlier(1, 5, {"s4", "s5"}));
  for (const Tally* tally : {&before, &after}) {
    EXPECT_EQ(tally->total().durable, 6u);
    EXPECT_THAT(tally->total().latest, ElementsAre("s4", "s5", "s6"));
  }
}

TEST(Tally, TheLongestOfSeveralEarlierOnesCounts) {
  Tally tally(3);
  tally.learn(earlier(1, 4, {"s3", "s4"}));
  tally.learn(earlier(2, 6, {"s5", "s6"}));
  tally.learn(earlier(2, 5, {"s4", "s5"}));
  EXPECT_EQ(tally.total().durable, 6u);
  tally.ended(SetState::durable, "s6");
  EXPECT_EQ(tally.total().durable, 6u);
}

TEST(Tally, ACoordinatorLearnsNothingOfItselfOrALaterOne) {
  Tally tally(2);
  tally.learn(earlier(2, 7, {}));
  tally.learn(earlier(3, 7, {}));
  EXPECT_EQ(tally.total().durable, 0u);
}

TEST(Tally, NamesOnlyTheLatest) {
  Tally tally(1);
  for (int i = 0; i < 100; ++i) tally.ended(SetState::durable, "s" + std::to_string(i));
  EXPECT_EQ(tally.total().durable, 100u);
  EXPECT_THAT(tally.total().latest, SizeIs(32));
  EXPECT_EQ(tally.total().latest.back(), "s99");
}

}  // namespace
}  // namespace forebay::job
