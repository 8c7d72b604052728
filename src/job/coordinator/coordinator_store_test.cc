// What a coordinator makes of a store that fails, says nothing at all, or has the set already.
#include <gmock/gmock.h>

#include "job/coordinator/test_two_nodes.h"

namespace forebay::job {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using wire::SetState;

class CoordinatorStoreTest : public testing::Test {
 protected:
  const wire::SetNewsT& only_news() {
    if (s.inbox[a].news.size() != 1) throw std::runtime_error("not one piece of news");
    return s.inbox[a].news[0];
  }

  Stand s;
  SessionId a = s.agent("na");
};

TEST_F(CoordinatorStoreTest, AStoreThatCannotBeReadEndsTheSetWithItsError) {
  s.send(a, offer_of("s", {0, 1}, 2, 1));
  for (int i = 0; i < 100 && s.inbox[a].news.empty(); ++i) {
    if (!s.commands.empty()) s.answer(LookedUp{s.take_command<LookUp>().set, fail(ErrorKind::io, "EIO", "/store")});
    s.pass(30s, {a});
  }
  EXPECT_EQ(only_news().state, SetState::failed);
  EXPECT_THAT(only_news().message, HasSubstr("/store: EIO"));
}

TEST_F(CoordinatorStoreTest, AStoreThatDoesNotAnswerEndsTheSet) {
  s.send(a, offer_of("s", {0, 1}, 2, 1));
  s.pass(601s, {a});
  EXPECT_EQ(only_news().state, SetState::failed);
  EXPECT_THAT(only_news().message, HasSubstr("the store does not answer"));
}

TEST_F(CoordinatorStoreTest, ARestartWaitsForACompleteSetThatTheStoreWasAskedAbout) {
  s.send(a, offer_of("s", {0, 1}, 2, 1));
  const auto asked = s.take_command<LookUp>();
  wire::RestartRequestT request;
  request.total = 2;
  request.ranks = {0, 1};
  s.send(a, std::move(request));
  EXPECT_TRUE(s.commands.empty());
  s.answer(LookedUp{asked.set, std::vector<StoredSet>{}});
  EXPECT_EQ(s.take_command<Stage>().name, "s");
}

TEST_F(CoordinatorTest, StoreErrorsAreTriedAgainWithGrowingPauses) {
  offer_all("s");
  s.answer(LookedUp{s.take_command<LookUp>().set, std::vector<StoredSet>{}});
  for (const auto pause : {1s, 2s, 4s}) {
    s.answer(Staged{s.take_command<Stage>().set, fail(ErrorKind::no_space, "full", "/store")});
    s.pass(pause - 500ms, all());
    EXPECT_TRUE(s.commands.empty()) << pause.count();
    s.pass(1s, all());
  }
  s.serve_store();
  s.send(wa, success(take_task(wa)));
  s.send(wb, failure(take_task(wb), wire::FaultSide::store, ErrorKind::no_space));
  s.pass(2s, all());
  s.send(s.inbox[wa].tasks.empty() ? wb : wa, success(take_task(s.inbox[wa].tasks.empty() ? wb : wa)));
  s.answer(Committed{s.take_command<Commit>().set, fail(ErrorKind::io, "EIO", "/store")});
  EXPECT_TRUE(s.inbox[a].news.empty());
  s.pass(2s, all());
  s.serve_store();
  EXPECT_THAT(states(a), ElementsAre(SetState::durable));
}

TEST_F(CoordinatorTest, AStoreThatStaysFullEndsTheSet) {
  offer_all("s");
  s.answer(LookedUp{s.take_command<LookUp>().set, std::vector<StoredSet>{}});
  for (int i = 0; i < 100 && s.inbox[a].news.empty(); ++i) {
    if (!s.commands.empty()) s.answer(Staged{s.take_command<Stage>().set, fail(ErrorKind::no_space, "full", "/store")});
    s.pass(30s, all());
  }
  ASSERT_THAT(states(a), ElementsAre(SetState::failed));
  EXPECT_THAT(s.inbox[a].news[0].message, HasSubstr("full"));
}

TEST_F(CoordinatorTest, AWorkersOwnErrorsAreFewBeforeTheSetIsGivenUp) {
  offer_all("s");
  s.serve_store();
  int tries = 0;
  for (; tries < 10 && s.inbox[a].news.empty(); ++tries) {
    const SessionId worker = s.inbox[wa].tasks.empty() ? wb : wa;
    s.send(worker, failure(take_task(worker), wire::FaultSide::other, ErrorKind::unsupported, "no such codec"));
    if (tries % 2 == 1) s.pass(5s, all());
  }
  EXPECT_LE(tries, 6);
  EXPECT_THAT(states(a), ElementsAre(SetState::failed));
}

TEST_F(CoordinatorTest, ATaskThatEndsItsWorkersIsGivenUp) {
  offer_all("s");
  s.serve_store();
  s.leave(wa);
  s.send(wb, success(take_task(wb)));
  int lost = 0;
  for (SessionId worker = wb; s.inbox[a].news.empty() && lost < 20; ++lost) {
    s.leave(worker);
    worker = s.worker("nc");
  }
  EXPECT_EQ(lost, 7);
  EXPECT_THAT(states(a), ElementsAre(SetState::failed));
}

TEST_F(CoordinatorTest, WhatTheStoreHasAlreadyIsNotStoredTwice) {
  offer_all("s");
  work();
  const store::Manifest committed = s.stored.at("s");
  Stand t(small_groups(), 2);  // the next coordinator
  t.stored["s"] = committed;
  const SessionId one = t.agent("na"), two = t.agent("nb");
  t.send(one, offer_of("s", {0, 1}, 4, 11));
  t.serve_store();
  EXPECT_TRUE(t.inbox[one].news.empty());
  t.send(two, offer_of("s", {2, 3}, 4, 12));
  t.serve_store();
  for (const SessionId id : {one, two}) {
    ASSERT_EQ(t.inbox[id].news.size(), 1u);
    EXPECT_EQ(t.inbox[id].news[0].state, SetState::durable);
    EXPECT_EQ(t.inbox[id].news[0].stored_as, "s");
  }
  EXPECT_TRUE(t.commits.empty());
}

TEST_F(CoordinatorTest, ALonelyPartOfAStoredSetIsKnownAfterAWhile) {
  offer_all("s");
  work();
  Stand t(small_groups(), 2);
  t.stored["s"] = s.stored.at("s");
  const SessionId one = t.agent("na");
  t.send(one, offer_of("s", {0, 1}, 4, 11));
  t.serve_store();
  t.pass(25s, {one});
  ASSERT_EQ(t.inbox[one].news.size(), 1u);
  EXPECT_EQ(t.inbox[one].news[0].state, SetState::durable);
}

TEST_F(CoordinatorTest, ASetWrittenAgainGetsAnotherName) {
  offer_all("s");
  work();
  offer_all("s", {}, 8);
  work();
  EXPECT_EQ(s.inbox[a].news[1].stored_as, "s+2");
  offer_all("s", {}, 9);
  work();
  EXPECT_EQ(s.inbox[a].news[2].stored_as, "s+3");
  offer_all("s", {}, 8);  // agents that were killed, say
  EXPECT_EQ(s.inbox[a].news[3].stored_as, "s+2");
  EXPECT_EQ(s.inbox[a].news[3].state, SetState::durable);
}

TEST_F(CoordinatorTest, ANameThatIsTakenAtTheCommitIsLookedAtAgain) {
  offer_all("s");
  s.serve_store();
  s.send(wa, success(take_task(wa)));
  s.send(wb, success(take_task(wb)));
  const auto commit = s.take_command<Commit>();
  s.stored["s"] = commit.manifest;  // an earlier coordinator has woken up
  s.answer(Committed{commit.set, fail(ErrorKind::exists, "taken")});
  s.serve_store();
  EXPECT_THAT(states(a), ElementsAre(SetState::durable));
  EXPECT_EQ(s.stored.size(), 1u);
}

// The coordinator that hangs in its commit has done it after all, between the questions of the next one.
TEST_F(CoordinatorTest, ANameThatIsTakenWhenTheSetIsStagedIsLookedAtAgain) {
  offer_all("s");
  work();
  const store::Manifest committed = s.stored.at("s");
  Stand t(small_groups(), 2);
  const SessionId one = t.agent("na"), two = t.agent("nb");
  t.send(one, offer_of("s", {0, 1}, 4, 11));
  t.send(two, offer_of("s", {2, 3}, 4, 12));
  t.answer(LookedUp{t.take_command<LookUp>().set, std::vector<StoredSet>{}});
  t.stored["s"] = committed;
  t.serve_store();
  ASSERT_EQ(t.inbox[one].news.size(), 1u);
  EXPECT_EQ(t.inbox[one].news[0].stored_as, "s");
  EXPECT_EQ(t.stored.size(), 1u);
}

TEST_F(CoordinatorTest, WhoseStoreSaysNothingLetsAnotherOneCoordinate) {
  offer_all("s");
  s.pass(119s, all());
  EXPECT_FALSE(s.step_down);
  s.pass(2s, all());
  ASSERT_TRUE(s.step_down);
  EXPECT_THAT(*s.step_down, HasSubstr("the store has not answered for 12"));
}

TEST_F(CoordinatorTest, AStoreThatAnswersNowAndThenIsNotHung) {
  for (int i = 0; i < 5; ++i) {
    offer_all("s" + std::to_string(i), i);
    s.pass(100s, all());
    s.answer(LookedUp{s.take_command<LookUp>().set, fail(ErrorKind::io, "EIO")});
  }
  s.pass(100s, all());
  EXPECT_FALSE(s.step_down) << "it has answered, if only with errors";
}

TEST(CoordinatorAlone, GoesOnWaitingForItsStore) {
  CoordinatorOptions with = small_groups();
  with.host = "na";
  Stand s(with);
  const SessionId a = s.agent("na"), own = s.worker("na");
  s.send(a, offer_of("s", {0}, 1, 1));
  s.pass(500s, {a, own});
  EXPECT_FALSE(s.step_down) << "there is nobody else";
}

class RetentionTest : public testing::Test {
 protected:
  static CoordinatorOptions keeping(uint64_t last) {
    CoordinatorOptions with = small_groups();
    with.retention.keep_last = last;
    with.origin.series = "sod";
    return with;
  }
  void store_set(const std::string& name) {
    s.send(a, offer_of(name, {0, 1}, 2, ++exposure));
    s.serve_store();
    while (!s.inbox[worker].tasks.empty()) {
      const wire::TaskT task = s.inbox[worker].tasks.front();
      s.inbox[worker].tasks.pop_front();
      s.send(worker, success(task));
    }
    s.serve_store();
    ASSERT_EQ(s.inbox[a].news.back().state, SetState::durable) << s.log;
  }

  void ask_to_restart() {
    wire::RestartRequestT request;
    request.ranks = {0, 1};
    request.total = 2;
    s.send(a, std::move(request));
  }

  Stand s{keeping(2)};
  SessionId a = s.agent("na"), worker = s.worker("na");
  uint64_t exposure = 0;
};

TEST_F(RetentionTest, TheStoreIsPrunedWhenASetIsDurable) {
  store_set("a");
  ASSERT_EQ(s.prunes.size(), 1u);
  EXPECT_EQ(s.prunes[0].series, "sod");
  EXPECT_EQ(s.prunes[0].retention.keep_last, 2u);
  engine::Pruned pruned;
  pruned.removed = {"x", "y"};
  s.answer(WasPruned{std::move(pruned)});
  EXPECT_THAT(s.log, HasSubstr("removed from the store, as --keep-last and --keep-every say: x, y"));
}

TEST_F(RetentionTest, OnePruneAtATimeAndOneMoreForWhatCameMeanwhile) {
  store_set("a");
  store_set("b");
  store_set("c");
  EXPECT_EQ(s.prunes.size(), 1u);
  s.answer(WasPruned{engine::Pruned{}});
  s.serve_store();
  EXPECT_EQ(s.prunes.size(), 2u);
  s.answer(WasPruned{engine::Pruned{}});
  s.serve_store();
  EXPECT_EQ(s.prunes.size(), 2u);
}

TEST_F(RetentionTest, TheEndWaitsForItAndNobodyTakesTheStoreForSilentMeanwhile) {
  store_set("a");
  wire::StopRequestT stop;
  stop.drain = true;
  s.send(s.join(), std::move(stop));
  s.pass(600s, {a, worker});
  EXPECT_FALSE(s.coordinator.stopped());
  EXPECT_FALSE(s.step_down) << *s.step_down;
  s.answer(WasPruned{fail(ErrorKind::corrupt, "no set is intact")});
  s.pass(5s, {a, worker});
  EXPECT_TRUE(s.coordinator.stopped());
  EXPECT_THAT(s.log, HasSubstr("older sets stay in the store: no set is intact"));
}

// A set that it is about to bring must not go meanwhile.
TEST_F(RetentionTest, ARestartListsTheStoreWhenThePruneIsDone) {
  store_set("a");
  ask_to_restart();
  s.serve_store();
  EXPECT_EQ(s.lists, 0u);
  s.answer(WasPruned{engine::Pruned{}});
  s.serve_store();
  EXPECT_EQ(s.lists, 1u);
}

TEST_F(RetentionTest, ARestartWaitsForAPruneNoLongerThanForTheStore) {
  store_set("a");
  ask_to_restart();
  s.pass(2 * small_groups().stall_timeout, {a, worker});
  s.serve_store();
  EXPECT_EQ(s.lists, 1u);
}

TEST_F(CoordinatorTest, WithoutARetentionNothingIsPruned) {
  offer_all("s");
  work();
  EXPECT_THAT(states(a), ElementsAre(SetState::durable));
  EXPECT_TRUE(s.prunes.empty());
}

}  // namespace
}  // namespace forebay::job
