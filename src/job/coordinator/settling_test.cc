#include "job/coordinator/settling.h"

#include <gmock/gmock.h>

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr SessionId kAsker = 100;

class SettlingTest : public testing::Test {
 protected:
  static Settling::Agent agent(SessionId id, const std::string& host) { return {id, host + "\n/stage", host}; }
  Settling::Actions answer(SessionId id, uint64_t number, const std::string& left = {}, uint32_t more = 0) {
    wire::SettledT answer;
    answer.number = number;
    answer.more = more;
    if (!left.empty()) {
      auto& row = *answer.left.emplace_back(std::make_unique<wire::LeftT>());
      row.name = left;
      row.reason = "half of it";
    }
    return settling.answered(id, answer, now);
  }
  void join_two() {
    settling.joined(agent(1, "a"), now);
    settling.joined(agent(2, "b"), now);
  }

  Settling::Time now{100h};
  Settling settling{{.agents = 2, .peer_timeout = 10s, .set_timeout = 600s}};
};

TEST_F(SettlingTest, EndsWhenAllHaveAnswered) {
  join_two();
  EXPECT_THAT(settling.begin(kAsker, now).ask, ElementsAre(1, 2));
  EXPECT_FALSE(answer(1, settling.number(), "s1", 3).ended);
  const auto actions = answer(2, settling.number());
  EXPECT_TRUE(actions.ended);
  EXPECT_TRUE(actions.all_said);
  EXPECT_THAT(actions.tell, ElementsAre(kAsker));
  ASSERT_THAT(settling.rows(), SizeIs(2));
  EXPECT_EQ(settling.rows()[0].name, "s1");
  EXPECT_EQ(settling.rows()[1].name, "3 more");
  EXPECT_FALSE(settling.is_open());
}

TEST_F(SettlingTest, AnAnswerToAnEarlierQuestionIsPassedOver) {
  join_two();
  settling.begin(kAsker, now);
  const uint64_t first = settling.number();
  answer(1, first);
  settling.begin(kAsker + 1, now);
  EXPECT_FALSE(answer(1, first).ended);
  EXPECT_FALSE(answer(2, first).ended);
  answer(1, settling.number());
  EXPECT_THAT(answer(2, settling.number()).tell, ElementsAre(kAsker, kAsker + 1));
  EXPECT_FALSE(answer(2, settling.number()).ended);
}

TEST_F(SettlingTest, WhoComesMeanwhileIsAskedToo) {
  settling.joined(agent(1, "a"), now);
  settling.begin(0, now);
  EXPECT_FALSE(answer(1, settling.number()).ended) << "the other one may still come";
  EXPECT_THAT(settling.joined(agent(2, "b"), now).ask, ElementsAre(2));
  EXPECT_TRUE(answer(2, settling.number()).all_said);
}

// What it said as another session does not count: its stage may be another one.
TEST_F(SettlingTest, AnAgentThatComesAgainIsAskedAgain) {
  join_two();
  settling.begin(0, now);
  answer(1, settling.number(), "s1");
  EXPECT_FALSE(settling.left(1, now).ended);
  EXPECT_THAT(settling.joined(agent(3, "a"), now).ask, ElementsAre(3));
  EXPECT_THAT(settling.rows(), IsEmpty());
  EXPECT_FALSE(answer(2, settling.number()).ended);
  EXPECT_TRUE(answer(3, settling.number()).all_said);
}

TEST_F(SettlingTest, AgentsThatAreNotThereAreWaitedForTwiceThePeerTimeout) {
  settling.joined(agent(1, "a"), now);
  settling.begin(kAsker, now);
  answer(1, settling.number());
  now += 20s - 1ms;
  EXPECT_FALSE(settling.tick(now).ended);
  now += 1ms;
  const auto actions = settling.tick(now);
  EXPECT_TRUE(actions.ended);
  EXPECT_FALSE(actions.all_said);
  ASSERT_THAT(settling.rows(), SizeIs(1));
  EXPECT_THAT(settling.rows()[0].reason, testing::HasSubstr("1 of 2 agents are not there"));
}

TEST_F(SettlingTest, AgentsThatDoNotAnswerAreWaitedForTheSetTimeout) {
  join_two();
  settling.begin(kAsker, now);
  answer(2, settling.number());
  now += 600s - 1ms;
  EXPECT_FALSE(settling.tick(now).ended);
  now += 1ms;
  EXPECT_TRUE(settling.tick(now).ended);
  ASSERT_THAT(settling.rows(), SizeIs(1));
  EXPECT_EQ(settling.rows()[0].host, "a");
}

TEST_F(SettlingTest, TheLossOfTheLastThatWasWaitedForEndsIt) {
  Settling one{{.agents = 0, .peer_timeout = 10s, .set_timeout = 600s}};
  one.joined(agent(1, "a"), now);
  one.begin(kAsker, now);
  const auto actions = one.left(1, now);
  EXPECT_TRUE(actions.ended);
  EXPECT_FALSE(actions.all_said);
  EXPECT_TRUE(one.begin(0, now).ended) << "there is nobody to ask";
}

TEST_F(SettlingTest, AtTheEndOfTheJobWhoComesIsAskedWhenever) {
  join_two();
  EXPECT_THAT(settling.joined(agent(5, "c"), now).ask, IsEmpty());
  settling.begin_for_good(now);
  for (const SessionId id : {1, 2, 5}) answer(id, settling.number());
  EXPECT_FALSE(settling.is_open());
  EXPECT_THAT(settling.joined(agent(6, "d"), now).ask, ElementsAre(6));
  EXPECT_TRUE(settling.is_open());
  EXPECT_TRUE(answer(6, settling.number()).ended);
}

TEST_F(SettlingTest, WhatAnExcludedNodeHasLeftIsNoMatter) {
  join_two();
  settling.begin(0, now);
  answer(1, settling.number(), "s1");
  settling.excluded(agent(1, "a").key);
  settling.left(1, now);
  EXPECT_THAT(settling.rows(), IsEmpty());
}

}  // namespace
}  // namespace forebay::job
