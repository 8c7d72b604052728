// Ranks that end while a restart is under way, and the next start of their application.
#include <gmock/gmock.h>

#include "job/coordinator/test_restart.h"

namespace forebay::job {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kCancelled = static_cast<uint8_t>(ErrorKind::cancelled);

TEST_F(RestartTest, RanksOfALaterStartTakeThePlaceOfThoseThatAskedBefore) {
  ask(a, {0, 1}, 4, false, 1);
  // The application is started again, and its ranks are on other nodes.
  ask(b, {0, 1}, 4, false, 2);
  ASSERT_EQ(s.inbox[a].refused.size(), 1u);
  EXPECT_EQ(s.inbox[a].refused[0].error_kind, kCancelled);
  EXPECT_EQ(s.inbox[a].refused[0].attempt, 1u);
  ask(a, {2, 3}, 4, false, 2);
  const wire::TaskT task = take_task(wb);
  EXPECT_EQ(task.first_rank, 0u);
  ASSERT_EQ(task.peers.size(), 1u);
  EXPECT_EQ(task.peers[0]->node, "nb") << "where these ranks are now";
  s.send(wb, success(task));
  s.send(wa, success(take_task(wa)));
  for (const SessionId agent : {a, b}) {
    ASSERT_EQ(s.inbox[agent].ready.size(), 1u);
    EXPECT_EQ(s.inbox[agent].ready[0].attempt, 2u);
    publish(agent);
  }
  for (const SessionId agent : {a, b}) EXPECT_EQ(s.inbox[agent].restarted.size(), 1u);
}

TEST_F(RestartTest, ALaterStartMayHaveAnotherNumberOfRanks) {
  ask(a, {0, 1}, 8, false, 1);
  ask(a, {0, 1}, 4, false, 2);
  ask(b, {2, 3}, 4, false, 2);
  EXPECT_TRUE(s.inbox[b].refused.empty());
  deliver();
  EXPECT_EQ(s.inbox[b].ready.size(), 1u);
}

TEST_F(RestartTest, RanksOfAnEarlierStartAreRefused) {
  ask(a, {0, 1}, 4, false, 2);
  ask(b, {2, 3}, 4, false, 1);
  ASSERT_EQ(s.inbox[b].refused.size(), 1u);
  EXPECT_EQ(s.inbox[b].refused[0].attempt, 1u);
  EXPECT_THAT(s.inbox[b].refused[0].message, HasSubstr("started again"));
  EXPECT_TRUE(s.inbox[wa].tasks.empty());
  ask(b, {2, 3}, 4, false, 2);
  deliver();
  EXPECT_EQ(s.inbox[a].ready.size(), 1u);
}

TEST_F(RestartTest, ALaterStartWhileAnEarlierOneIsPublishedHasARoundOfItsOwn) {
  ask(a, {0, 1}, 4, false, 1);
  ask(b, {2, 3}, 4, false, 1);
  deliver();
  publish(b);
  ask(b, {2, 3}, 4, false, 2);
  ask(a, {0, 1}, 4, false, 2);
  EXPECT_TRUE(s.inbox[wa].tasks.empty()) << "an agent is still at the round before";
  publish(a, "the application was started again", s.inbox[a].ready[0].round);
  s.serve_store();
  deliver();
  publish(a);
  publish(b);
  for (const SessionId agent : {a, b}) {
    EXPECT_THAT(s.inbox[agent].restarted, ElementsAre(s.inbox[agent].ready[1].round));
    ASSERT_EQ(s.inbox[agent].refused.size(), 1u);
    EXPECT_EQ(s.inbox[agent].refused[0].attempt, 1u);
  }
}

// Their agents cannot know better: not every launcher passes the environment on to all nodes.
TEST_F(RestartTest, RanksThatDoNotKnowTheirStartAreOfAny) {
  ask(a, {0, 1}, 4, false, 3);
  ask(b, {2, 3});
  deliver();
  EXPECT_EQ(s.inbox[b].ready.size(), 1u);
}

TEST_F(RestartTest, RanksThatEndAskNoMore) {
  ask(a, {0, 1});
  ask(a, {});
  ask(b, {2, 3});
  EXPECT_TRUE(s.inbox[wa].tasks.empty() && s.inbox[wb].tasks.empty());
  ask(b, {0, 1});  // of the next start, on the other node
  ask(a, {2, 3});
  const wire::TaskT task = take_task(wb);
  EXPECT_EQ(task.first_rank, 0u);
  ASSERT_EQ(task.peers.size(), 1u);
  EXPECT_EQ(task.peers[0]->node, "nb");
}

TEST_F(RestartTest, NothingIsDeliveredOnForRanksThatHaveEnded) {
  ask_all();
  ask(a, {1});
  for (const SessionId worker : {wa, wb}) {
    ASSERT_EQ(s.inbox[worker].cancels.size(), 1u);
    s.send(worker, failure(take_task(worker), wire::FaultSide::other, ErrorKind::cancelled));
  }
  ask(a, {0, 1});
  deliver();
  EXPECT_EQ(s.inbox[a].ready.size(), 1u);
  EXPECT_EQ(s.inbox[b].ready.size(), 1u);
}

// A list that was asked for before is not taken for the one that is wanted: a newer set may have come in between.
TEST_F(RestartTest, AListForAnEarlierTryIsOfNoUse) {
  wire::RestartRequestT request;
  request.total = 4;
  request.ranks = {0, 1, 2, 3};
  s.send(a, wire::RestartRequestT(request));
  s.take_command<ListSets>();
  request.ranks.clear();
  s.send(a, wire::RestartRequestT(request));
  request.ranks = {0, 1, 2, 3};
  s.send(a, wire::RestartRequestT(request));
  s.take_command<ListSets>();
  s.answer(ListedSets{std::vector<store::SetInfo>{}});
  EXPECT_TRUE(s.inbox[a].ready.empty());
  s.answer(ListedSets{std::vector<store::SetInfo>{}});
  EXPECT_EQ(s.inbox[a].ready.size(), 1u);
}

}  // namespace
}  // namespace forebay::job
