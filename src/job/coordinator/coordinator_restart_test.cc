// How a coordinator brings the ranks of a job back to the newest set that is intact.
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "job/coordinator/test_restart.h"

namespace forebay::job {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(CoordinatorTest, ARestartDeliversTheNewestSetToAllRanks) {
  offer_all("s1", 1);
  work();
  offer_all("s2", 2);
  work();
  wire::RestartRequestT request;
  request.total = 4;
  request.ranks = {0, 1};
  s.send(a, wire::RestartRequestT(request));
  s.serve_store();
  EXPECT_TRUE(s.inbox[wa].tasks.empty());
  request.ranks = {3};
  s.send(b, wire::RestartRequestT(request));
  request.ranks = {2, 3};
  s.send(b, wire::RestartRequestT(request));
  s.serve_store();
  const wire::TaskT task = take_task(wb);
  EXPECT_EQ(task.kind, wire::TaskKind::deliver);
  EXPECT_EQ(task.set, "s2");
  EXPECT_EQ(task.container, "00001-of-00002.fbc");
  EXPECT_EQ(task.first_rank, 2u);
  EXPECT_THAT(task.peer_of_rank, ElementsAre(0, 0));
  EXPECT_EQ(task.peers[0]->stage, "/stage");
  s.send(wb, success(task));
  EXPECT_TRUE(s.inbox[a].ready.empty());
  s.send(wa, success(take_task(wa)));
  for (const SessionId agent : {a, b}) {
    ASSERT_EQ(s.inbox[agent].ready.size(), 1u);
    EXPECT_TRUE(s.inbox[agent].ready[0].found);
    EXPECT_EQ(s.inbox[agent].ready[0].set, "s2");
    EXPECT_EQ(s.inbox[agent].ready[0].step, 2);
    EXPECT_TRUE(s.inbox[agent].restarted.empty());
  }
}

TEST_F(RestartTest, RanksAreToldWhenAllAgentsHavePublished) {
  ask_all();
  deliver();
  publish(a);
  EXPECT_EQ(told(a) + told(b), 0u);
  publish(b);
  for (const SessionId agent : {a, b})
    EXPECT_THAT(s.inbox[agent].restarted, ElementsAre(s.inbox[agent].ready.back().round));
  publish(b);
  ask_all();
  deliver();
  EXPECT_NE(s.inbox[a].ready[0].round, s.inbox[a].ready[1].round);
}

// After it one node may have written its part anew before the other has begun to.
TEST_F(RestartTest, WhatIsNotCompleteThenIsGivenUp) {
  offer(a, "s4", {0, 1}, 4);
  s.serve_store();
  ask_all();
  EXPECT_EQ(s.inbox[a].news.back().state, wire::SetState::failed);
  offer(b, "s4", {2, 3}, 4, 8);
  work();
  EXPECT_FALSE(s.stored.contains("s4"));
}

TEST_F(RestartTest, WhatOneAgentCannotPublishFailsForAll) {
  ask_all();
  deliver();
  publish(b, "/stage/s3: rename: File exists");
  publish(a);
  for (const SessionId agent : {a, b}) {
    EXPECT_TRUE(s.inbox[agent].restarted.empty());
    ASSERT_EQ(s.inbox[agent].refused.size(), 1u);
    EXPECT_EQ(s.inbox[agent].refused[0].error_kind, static_cast<uint8_t>(ErrorKind::io));
    EXPECT_THAT(s.inbox[agent].refused[0].message,
                testing::AllOf(HasSubstr("s3"), HasSubstr("nb"), HasSubstr("/stage/s3: rename")));
  }
  ask_all();
  deliver();
  publish(a);
  publish(b);
  EXPECT_EQ(s.inbox[a].restarted.size() + s.inbox[b].restarted.size(), 2u) << "the next round is another one";
}

TEST_F(RestartTest, NothingIsDeliveredToAnAgentThatIsStillPublishing) {
  ask_all();
  deliver();
  publish(b, "File exists");
  ASSERT_EQ(told(a) + told(b), 2u);
  ask_all();
  EXPECT_TRUE(s.inbox[wa].tasks.empty() && s.inbox[wb].tasks.empty());
  publish(a);
  s.serve_store();
  deliver();
  publish(b);
  publish(a, "File exists", s.inbox[a].ready[0].round);
  EXPECT_TRUE(s.inbox[a].restarted.empty()) << "that was the round before";
  publish(a);
  EXPECT_EQ(s.inbox[a].restarted.size() + s.inbox[b].restarted.size(), 2u);
}

TEST_F(RestartTest, AnAgentThatIsLostWhileItPublishesMustAskAgain) {
  ask_all();
  deliver();
  publish(a);
  s.leave(b);
  EXPECT_EQ(told(a), 0u);
  const SessionId back = s.agent("nb");
  ask(back, {2, 3});
  deliver();
  ASSERT_EQ(s.inbox[a].ready.size(), 2u);
  publish(back);
  publish(a, "it was late", s.inbox[a].ready[0].round);
  EXPECT_EQ(told(a), 0u);
  publish(a);
  EXPECT_EQ(s.inbox[a].restarted.size() + s.inbox[back].restarted.size(), 2u);
}

TEST_F(RestartTest, AnAgentThatIsLostWithoutHavingPublishedHoldsNobody) {
  ask_all();
  deliver();
  publish(b, "File exists");
  s.leave(a);
  const SessionId back = s.agent("na");
  ask(back, {0, 1});
  ask(b, {2, 3});
  deliver();
  publish(back);
  publish(b);
  EXPECT_EQ(s.inbox[back].restarted.size(), 1u);
}

// Its ranks are others' in this round: nothing is delivered to it.
TEST_F(RestartTest, AnAgentThatAsksWhenAllIsDeliveredIsOfTheNextRound) {
  ask_all();
  const SessionId late = s.agent("nc");
  ask(late, {2, 3});
  deliver();
  publish(a);
  publish(b);
  EXPECT_EQ(s.inbox[a].restarted.size(), 1u);
  EXPECT_TRUE(s.inbox[late].ready.empty() && told(late) == 0);
  ask(a, {0, 1});
  deliver();
  publish(a);
  publish(late);
  EXPECT_EQ(s.inbox[a].restarted.size() + s.inbox[late].restarted.size(), 3u);

  ask_all();
  ask(late, {2, 3});
  s.leave(b);
  for (const SessionId worker : {wa, wb})
    s.send(worker, failure(take_task(worker), wire::FaultSide::other, ErrorKind::cancelled));
  s.serve_store();
  deliver();
  publish(a);
  publish(late);
  EXPECT_EQ(s.inbox[late].restarted.size(), 2u) << "it takes the place of one that is lost";
}

TEST_F(RestartTest, AnAgentThatNeverPublishesIsNamed) {
  ask_all();
  s.pass(590s, all());
  deliver();
  publish(a);
  s.pass(590s, all());
  EXPECT_EQ(told(a), 0u) << "it has its time from when it was told";
  s.pass(20s, all());
  for (const SessionId agent : {a, b}) {
    ASSERT_EQ(s.inbox[agent].refused.size(), 1u);
    EXPECT_EQ(s.inbox[agent].refused[0].error_kind, static_cast<uint8_t>(ErrorKind::timeout));
    EXPECT_THAT(s.inbox[agent].refused[0].message, testing::AllOf(HasSubstr("nb"), testing::Not(HasSubstr("na"))));
  }
  ask_all();
  s.pass(601s, all());
  ASSERT_EQ(s.inbox[a].refused.size(), 2u);
  EXPECT_THAT(s.inbox[a].refused[1].message, HasSubstr("nb")) << "it is still at it";
}

TEST_F(RestartTest, ARoundThatBeginsAnewHasItsTimeAgain) {
  ask_all();
  s.pass(590s, all());
  s.leave(b);
  s.pass(20s, all());
  EXPECT_EQ(told(a), 0u);
  s.pass(600s, all());
  EXPECT_EQ(s.inbox[a].refused.size(), 1u);
}

TEST_F(RestartTest, ReportsThatNobodyAskedForAreOfNoConsequence) {
  ask_all();
  publish(a, "no", 1);
  deliver();
  publish(a, "no", 77);
  const SessionId other = s.agent("nc");
  publish(other, "no", s.inbox[a].ready.back().round);
  EXPECT_EQ(told(a) + told(b), 0u);
  publish(a);
  publish(a, "no");
  publish(b);
  EXPECT_EQ(s.inbox[a].restarted.size(), 1u);
}

TEST_F(RestartTest, ADamagedSetIsPassedOverForAll) {
  ask_all();
  s.send(wa, success(take_task(wa)));
  s.send(wb, failure(take_task(wb), wire::FaultSide::store, ErrorKind::corrupt, "frame 7 is damaged"));
  EXPECT_EQ(take_task(wa).set, "s2");
  s.inbox[wa].tasks.clear();
  s.send(wb, success(take_task(wb)));
  EXPECT_TRUE(s.inbox[a].ready.empty());
}

TEST_F(RestartTest, ASetThatNobodyMayReadIsPassedOverAfterAFewAttempts) {
  ask_all();
  s.send(wa, success(take_task(wa)));
  for (int attempt = 1; attempt <= 3; ++attempt) {
    const SessionId worker = s.inbox[wb].tasks.empty() ? wa : wb;  // whoever it was given to this time
    const wire::TaskT task = take_task(worker);
    EXPECT_EQ(task.set, "s3") << attempt;
    s.send(worker, failure(task, wire::FaultSide::store, ErrorKind::permission, "open: Permission denied"));
    if (attempt < 3) s.pass(10s, all());
  }
  const SessionId worker = s.inbox[wb].tasks.empty() ? wa : wb;
  EXPECT_EQ(take_task(worker).set, "s2");
}

TEST_F(RestartTest, TheMessageSaysWhatWasPassedOver) {
  s.stored.at("s2").lost_containers = {"00001-of-00002.fbc"};
  ask_all();
  s.send(wb, failure(take_task(wb), wire::FaultSide::store, ErrorKind::corrupt, "frame 7 is damaged"));
  ASSERT_EQ(s.inbox[wa].cancels.size(), 1u);
  s.send(wa, failure(take_task(wa), wire::FaultSide::other, ErrorKind::cancelled));
  s.send(wa, success(take_task(wa)));
  s.send(wb, success(take_task(wb)));
  ASSERT_EQ(s.inbox[b].ready.size(), 1u);
  EXPECT_EQ(s.inbox[b].ready[0].set, "s1");
  EXPECT_THAT(s.inbox[b].ready[0].message, testing::AllOf(HasSubstr("s3"), HasSubstr("frame 7"), HasSubstr("s2")));
}

TEST_F(RestartTest, WhoAskedWhenAllProvedToBeDamagedIsOfTheNextRound) {
  for (const char* set : {"s1", "s2"}) s.stored.at(set).lost_containers = {"00001-of-00002.fbc"};
  ask_all();
  const SessionId late = s.agent("nc");
  ask(late, {2, 3});
  s.send(wb, failure(take_task(wb), wire::FaultSide::store, ErrorKind::corrupt, "frame 7 is damaged"));
  s.send(wa, failure(take_task(wa), wire::FaultSide::other, ErrorKind::cancelled));
  ASSERT_EQ(s.inbox[a].ready.size(), 1u);
  EXPECT_FALSE(s.inbox[a].ready[0].found);
  EXPECT_TRUE(s.inbox[late].ready.empty());
  ask(a, {0, 1});
  deliver();
  publish(a);
  publish(late);
  EXPECT_EQ(told(late), 1u);
}

TEST_F(RestartTest, ASetOfAnotherNumberOfRanksIsNeitherTakenNorPassedOver) {
  s.stored.at("s2").ranks = 3;  // one that would fit, but is older
  ask(a, {0, 1, 2}, 3);
  ASSERT_EQ(s.inbox[a].ready.size(), 1u);
  EXPECT_FALSE(s.inbox[a].ready[0].found);
  EXPECT_EQ(s.inbox[a].ready[0].other_ranks, 4u);
  EXPECT_THAT(s.inbox[a].ready[0].message, testing::AllOf(HasSubstr("s3, is of 4 ranks"), HasSubstr("has 3")));
}

TEST_F(RestartTest, AllFilesOfASetOfAnotherNumberOfRanksGoToEachNodeIfAllRanksAskForIt) {
  ask(a, {0, 1}, 3, true);
  ask(b, {2}, 3, true);
  std::map<std::string, std::set<std::string>> stages;  // that a container goes to
  for (int i = 0; i < 2; ++i)
    for (const SessionId worker : {wa, wb}) {
      const wire::TaskT task = take_task(worker);
      ASSERT_EQ(task.peers.size(), 1u);
      EXPECT_THAT(task.peer_of_rank, ElementsAre(0, 0));
      stages[task.container].insert(task.peers[0]->node);
      s.send(worker, success(task));
    }
  const std::set<std::string> both = {"na", "nb"};
  EXPECT_EQ(stages,
            (std::map<std::string, std::set<std::string>>{{"00000-of-00002.fbc", both}, {"00001-of-00002.fbc", both}}));
  ASSERT_EQ(s.inbox[b].ready.size(), 1u);
  EXPECT_TRUE(s.inbox[b].ready[0].found);
  EXPECT_EQ(s.inbox[b].ready[0].ranks, 4u);
}

TEST_F(RestartTest, OneRankThatCanOnlyReadItsOwnNumberDecidesForAll) {
  ask(a, {0, 1}, 3, true);
  ask(b, {2}, 3);
  ASSERT_EQ(s.inbox[a].ready.size(), 1u);
  EXPECT_EQ(s.inbox[a].ready[0].other_ranks, 4u);
}

TEST_F(RestartTest, AnyRanksOfAsManyAreAsAlways) {
  ask(a, {0, 1}, 4, true);
  ask(b, {2, 3}, 4, true);
  EXPECT_TRUE(s.inbox[wa].tasks.size() == 1 && s.inbox[wb].tasks.size() == 1);
  deliver();
  EXPECT_EQ(s.inbox[a].ready[0].ranks, 4u);
}

TEST_F(RestartTest, SetsOfAnotherSeriesAreLeftAlone) {
  s.stored.at("s3").origin.series = "other";
  ask_all();
  EXPECT_EQ(take_task(wa).set, "s2");
  EXPECT_THAT(s.log, HasSubstr("other (1 set, the newest is s3)"));
}

TEST_F(RestartTest, AStoreWithOtherSeriesOnlyIsNothingToRestartFromAndTheAnswerNamesThem) {
  for (auto& [name, manifest] : s.stored) manifest.origin.series = "other";
  ask_all();
  ASSERT_EQ(s.inbox[a].ready.size(), 1u);
  EXPECT_FALSE(s.inbox[a].ready[0].found);
  EXPECT_EQ(s.inbox[a].ready[0].other_ranks, 0u);
  EXPECT_THAT(s.inbox[a].ready[0].message, testing::AllOf(HasSubstr("no set of the series default"),
                                                          HasSubstr("other (3 sets"), HasSubstr("--series")));
}

TEST_F(RestartTest, WaitsForASetThatIsBeingDrained) {
  offer_all("s4", 4);
  s.serve_store();
  ask_all();
  s.send(wa, success(take_task(wa)));
  s.send(wb, success(take_task(wb)));
  s.serve_store();
  EXPECT_EQ(take_task(wa).set, "s4");
}

TEST_F(RestartTest, AnAgentThatIsLostMustAskAgain) {
  ask_all();
  s.leave(b);
  EXPECT_EQ(s.inbox[wa].cancels.size(), 1u);
  s.send(wa, failure(take_task(wa), wire::FaultSide::other, ErrorKind::cancelled));
  s.send(wb, failure(take_task(wb), wire::FaultSide::other, ErrorKind::cancelled));
  const SessionId back = s.agent("nb");
  ask(back, {2, 3});
  deliver();
  EXPECT_EQ(s.inbox[a].ready.size(), 1u);
  EXPECT_EQ(s.inbox[back].ready.size(), 1u);
}

TEST_F(RestartTest, RanksThatDoNotAskAreNamed) {
  ask(a, {0, 1});
  s.pass(601s, all());
  ASSERT_EQ(s.inbox[a].refused.size(), 1u);
  EXPECT_THAT(s.inbox[a].refused[0].message, HasSubstr("2-3"));
  ask_all();
  EXPECT_FALSE(s.inbox[wa].tasks.empty()) << "the next round is another one";
}

TEST_F(RestartTest, WhatCannotBeIsRefused) {
  ask(a, {4});
  ask(a, {0}, 0);
  EXPECT_EQ(s.inbox[a].refused.size(), 2u);
  ask(a, {0});
  ask(b, {1}, 5);
  EXPECT_EQ(s.inbox[b].refused.size(), 1u);
}

TEST_F(CoordinatorTest, AnEmptyStoreIsNothingToRestartFrom) {
  wire::RestartRequestT request;
  request.total = 2;
  request.ranks = {0, 1};
  s.send(a, std::move(request));
  s.serve_store();
  ASSERT_EQ(s.inbox[a].ready.size(), 1u);
  EXPECT_FALSE(s.inbox[a].ready[0].found);
}

}  // namespace
}  // namespace forebay::job
