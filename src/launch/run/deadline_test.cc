#include "launch/run/deadline.h"

#include <gtest/gtest.h>

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;
using Step = Deadline::Step;

const Deadline::Time kStart{1000s};

TEST(Deadline, WithoutALimitNothingHappens) {
  Deadline none;
  EXPECT_EQ(none.step(kStart + 9999h), Step::nothing);
  EXPECT_EQ(none.next(), Deadline::Time::max());
  EXPECT_EQ(none.end_of_job(), Deadline::Time::max());
}

TEST(Deadline, AFixedOneEndsBeforeTheDrainNeedsToBegin) {
  Deadline fixed(3600s, 150s, false, kStart);
  EXPECT_EQ(fixed.next(), kStart + 3450s);
  EXPECT_EQ(fixed.step(kStart + 3449s), Step::nothing);
  EXPECT_EQ(fixed.step(kStart + 3450s), Step::end);
  EXPECT_EQ(fixed.step(kStart + 3451s), Step::nothing) << "once";
  EXPECT_EQ(fixed.next(), Deadline::Time::max());
  EXPECT_EQ(fixed.end_of_job(), kStart + 3600s);
}

TEST(Deadline, AsksNowAndThenAndBeforeTheEnd) {
  Deadline asked(3600s, 150s, true, kStart);
  EXPECT_EQ(asked.next(), kStart + Deadline::kAskAgain);
  EXPECT_EQ(asked.step(kStart + 10min), Step::ask);
  EXPECT_EQ(asked.step(kStart + 10min + 1s), Step::nothing);
  asked.answered(true, 160s, kStart + 10min + 1s);  // somebody has made the limit smaller
  EXPECT_EQ(asked.next(), kStart + 10min + 11s);
  EXPECT_EQ(asked.step(kStart + 10min + 11s), Step::ask);
  asked.answered(true, 149s, kStart + 10min + 12s);
  EXPECT_EQ(asked.step(kStart + 10min + 12s), Step::end);
}

TEST(Deadline, ALimitThatWasMadeLargerCounts) {
  Deadline asked(300s, 150s, true, kStart);
  EXPECT_EQ(asked.step(kStart + 150s), Step::ask);
  asked.answered(true, 450s, kStart + 151s);
  EXPECT_EQ(asked.step(kStart + 151s), Step::nothing);
  EXPECT_EQ(asked.step(kStart + 451s), Step::ask);
  asked.answered(true, std::nullopt, kStart + 452s);
  EXPECT_EQ(asked.step(kStart + 453s), Step::nothing) << "no limit any more";
  EXPECT_EQ(asked.next(), kStart + 452s + Deadline::kAskAgain);
  EXPECT_EQ(asked.end_of_job(), Deadline::Time::max());
}

TEST(Deadline, WithoutAnAnswerWhatWasKnownCounts) {
  Deadline asked(300s, 150s, true, kStart);
  EXPECT_EQ(asked.step(kStart + 150s), Step::ask);
  EXPECT_EQ(asked.next(), kStart + 150s + Deadline::kPatience);
  EXPECT_EQ(asked.step(kStart + 151s), Step::nothing);
  EXPECT_EQ(asked.step(kStart + 150s + Deadline::kPatience), Step::end);
  Deadline other(300s, 150s, true, kStart);
  EXPECT_EQ(other.step(kStart + 150s), Step::ask);
  other.answered(false, {}, kStart + 152s);
  EXPECT_EQ(other.step(kStart + 152s), Step::end);
}

}  // namespace
}  // namespace forebay::launch
