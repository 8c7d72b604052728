#include "job/agent/set_looks.h"

#include <gmock/gmock.h>

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class SetLooksTest : public testing::Test {
 protected:
  SetLooks::Time now{100h};
  SetLooks looks;
};

TEST_F(SetLooksTest, ASetIsDueWhenItsTimeHasComeAndOnce) {
  looks.look_again("a", now + 10s);
  looks.look_again("b", now + 5s);
  EXPECT_EQ(looks.next(), now + 5s);
  EXPECT_THAT(looks.due(now + 5s - 1ns), IsEmpty());
  EXPECT_THAT(looks.due(now + 5s), ElementsAre("b"));
  EXPECT_EQ(looks.next(), now + 10s);
  EXPECT_TRUE(looks.may_look("a", now));
  EXPECT_EQ(looks.next(), SetLooks::Time::max()) << "a look takes the place of the one that was planned";
}

TEST_F(SetLooksTest, NobodyLooksWhileSomebodyElseIsAtIt) {
  looks.begin_work("a");
  EXPECT_FALSE(looks.is_idle());
  EXPECT_FALSE(looks.may_look("a", now));
  EXPECT_TRUE(looks.may_look("b", now));
  EXPECT_THAT(looks.due(now + 1s), ElementsAre("a"));
  looks.end_work("a");
  EXPECT_TRUE(looks.is_idle());
  EXPECT_TRUE(looks.may_look("a", now));
}

TEST_F(SetLooksTest, WhatWasRejectedIsSoUntilItChangesOrItsTimeComes) {
  looks.rejected("a", "print", "no header");
  EXPECT_TRUE(looks.is_rejected("a", "print"));
  EXPECT_FALSE(looks.is_rejected("a", "other print"));
  EXPECT_EQ(looks.why_rejected("a"), "no header");
  EXPECT_FALSE(looks.why_rejected("b"));
  looks.look_again("a", now);
  looks.due(now);
  EXPECT_FALSE(looks.is_rejected("a", "print"));
  looks.rejected("a", "print", "no header");
  looks.accepted("a");
  EXPECT_FALSE(looks.why_rejected("a"));
}

TEST_F(SetLooksTest, WhatIsTrueAgainAndAgainIsSaidOnce) {
  EXPECT_TRUE(looks.is_news("a", "it is torn"));
  EXPECT_FALSE(looks.is_news("a", "it is torn"));
  EXPECT_TRUE(looks.is_news("b", "it is torn"));
  EXPECT_TRUE(looks.is_news("a", "it is gone"));
  EXPECT_TRUE(looks.is_news("a", "it is torn"));
  looks.forget("a");
  EXPECT_TRUE(looks.is_news("a", "it is torn"));
}

TEST(RestingStage, AnswersOnceAfterALookAtWhatOthersWereAt) {
  RestingStage rest;
  EXPECT_FALSE(rest.must_look_again());
  EXPECT_FALSE(rest.take());
  rest.asked(3, true);
  EXPECT_FALSE(rest.must_look_again());
  EXPECT_EQ(rest.take(), 3u);
  EXPECT_FALSE(rest.take());
  rest.asked(4, false);
  EXPECT_TRUE(rest.must_look_again());
  EXPECT_FALSE(rest.must_look_again()) << "once is enough";
  rest.asked(5, false);
  EXPECT_TRUE(rest.must_look_again()) << "another question";
  EXPECT_EQ(rest.take(), 5u);
  rest.asked(6, true);
  rest.forget();
  EXPECT_FALSE(rest.take());
}

}  // namespace
}  // namespace forebay::job
