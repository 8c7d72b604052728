// Sets that are protected between nodes, and restarts from them.
#include <nlohmann/json.hpp>
#include <random>

#include <gmock/gmock.h>

#include "job/coordinator/test_caches.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using wire::SetState;

TEST_F(CachesTest, ACompleteSetIsEncodedSealedAndCached) {
  w.write("a", 1);
  EXPECT_EQ(w.told(SetState::cached, "a"), 4u) << w.s.log;
  EXPECT_THAT(w.s.commits, IsEmpty());
  for (uint32_t i = 0; i < 4; ++i) {
    ASSERT_THAT(w.agents[i].stage["a"].encodings, SizeIs(1));
    EXPECT_TRUE(w.agents[i].stage["a"].encodings[0].is_sealed);
  }
}

TEST_F(CachesTest, EveryNthSetIsStoredThough) {
  CacheWorld n{caching(3), 4};
  for (int64_t step = 1; step <= 7; ++step) n.write("s" + std::to_string(step), step);
  EXPECT_THAT(n.s.stored, SizeIs(2));
  EXPECT_TRUE(n.s.stored.contains("s3"));
  EXPECT_TRUE(n.s.stored.contains("s6"));
  n.flush = wire::FlushWish::always;
  n.write("s8", 8);
  EXPECT_TRUE(n.s.stored.contains("s8"));
}

// It waits for its drain when ranks write it anew: what protects it is of the other writing.
TEST_F(CachesTest, WhatIsWrittenAnewIsProtectedAnew) {
  CacheWorld n{caching(1), 4};
  n.works = false;
  n.write("a", 1);
  n.write("b", 2);
  const uint64_t before = n.agents[0].stage["b"].encodings.at(0).order.id;
  n.write("b", 2);
  for (uint32_t i = 0; i < 4; ++i) {
    ASSERT_THAT(n.agents[i].stage["b"].encodings, SizeIs(1)) << n.s.log;
    EXPECT_TRUE(n.agents[i].stage["b"].encodings[0].is_sealed);
    EXPECT_NE(n.agents[i].stage["b"].encodings[0].order.id, before);
  }
}

TEST_F(CachesTest, WhatHasNoSchemeIsCachedWhenItIsComplete) {
  CacheWorld n{caching(0, redundancy::Scheme::none), 4};
  n.write("a", 1);
  EXPECT_EQ(n.told(SetState::cached, "a"), 4u);
  n.ask_all();
  EXPECT_EQ(n.published["n3"], "a");
}

TEST_F(CachesTest, ASingleNodesSetIsStoredInstead) {
  CacheWorld n{caching(), 1, 4};
  n.write("a", 1);
  EXPECT_TRUE(n.s.stored.contains("a"));
  EXPECT_THAT(n.s.log, HasSubstr("stored instead"));
}

TEST_F(CachesTest, WhoIsLostWhileItIsEncodedEndsThatEncoding) {
  w.agents[2].is_held = true;
  w.write("a", 1);
  EXPECT_EQ(w.told(SetState::cached, "a"), 0u);
  const auto stage = std::move(w.agents[2].stage);
  w.lose(2);
  w.run();
  EXPECT_THAT(w.agents[0].stage["a"].encodings, IsEmpty());
  w.agents[2].is_held = false;
  w.agents[2].stage["a"] = {.ranks = {2}, .step = 1, .write = w.writes, .total = 4};
  w.join(2);
  w.pass(5s);
  EXPECT_EQ(w.told(SetState::cached, "a"), 4u) << w.s.log;
}

TEST_F(CachesTest, WhoIsLostWhileItIsSealedIsMissedOnly) {
  w.agents[3].is_held = true;
  w.write("a", 1);
  w.agents[3].is_held = false;
  Inbox& box = w.s.inbox[w.agents[3].session];
  ASSERT_THAT(box.protects, SizeIs(1));
  ASSERT_TRUE(w.act(w.agents[3]));  // encoded: the others are told to seal
  w.agents[3].is_held = true;
  w.run();
  w.lose(3);
  w.run();
  EXPECT_EQ(w.told(SetState::cached, "a"), 3u) << w.s.log;
  w.ask_all(4);
  EXPECT_EQ(w.published["n4"], "a") << w.s.log;
}

TEST_F(CachesTest, ASetThatCannotBeProtectedInTimeIsStored) {
  CoordinatorOptions with = caching();
  with.set_timeout = 20s;
  CacheWorld n{with, 4};
  n.agents[1].is_held = true;
  n.write("a", 1);
  n.pass(30s);
  n.agents[1].is_held = false;
  n.run();
  EXPECT_TRUE(n.s.stored.contains("a")) << n.s.log;
}

TEST_F(CachesTest, AllNodesBeginInPlace) {
  w.write("a", 1);
  w.write("b", 2);
  w.ask_all();
  for (const char* node : {"n0", "n1", "n2", "n3"}) EXPECT_EQ(w.published[node], "b") << w.s.log;
  EXPECT_EQ(w.repairs, 0u);
  EXPECT_THAT(w.s.commits, IsEmpty());
}

TEST_F(CachesTest, ALostNodesPartIsRepairedWhereItsRanksAsk) {
  w.write("a", 1);
  w.lose(1);
  w.ask_all(4);
  for (const char* node : {"n0", "n2", "n3", "n4"}) EXPECT_EQ(w.published[node], "a") << w.s.log;
  EXPECT_EQ(w.repairs, 4u);
  ASSERT_THAT(w.agents[4].stage["a"].encodings, SizeIs(1));
  EXPECT_TRUE(w.agents[4].stage["a"].encodings[0].is_sealed);
}

TEST_F(CachesTest, TheStatusHasTheCacheLevelsAndWhatIsBeingRebuilt) {
  const SessionId asker = w.s.join();
  const auto cache = [&] {
    w.s.send(asker, wire::StatusRequestT());
    return nlohmann::json::parse(w.s.inbox[asker].status.back())["cache"];
  };
  for (const uint32_t node : {0, 2}) w.agents[node].level = "/ssd";
  w.write("a", 1);
  ASSERT_EQ(cache()["sets"].size(), 1u);
  EXPECT_EQ(cache()["sets"][0]["levels"], nlohmann::json::array({"/ssd"}));
  EXPECT_TRUE(cache()["recovery"].is_null());
  w.lose(1);
  for (const auto& [node, rank] : {std::pair{0u, 0u}, {2u, 2u}, {3u, 3u}, {4u, 1u}}) w.ask(node, {rank});
  for (int turn = 0; turn < 100 && cache()["recovery"].is_null(); ++turn) {
    w.s.serve_store();
    if (cache()["recovery"].is_null()) w.act(w.agents[turn % w.agents.size()]);
  }
  const auto recovery = cache()["recovery"];
  ASSERT_TRUE(recovery.is_object()) << w.s.log;
  EXPECT_EQ(recovery["set"], "a");
  EXPECT_EQ(recovery["state"], "checking");
  EXPECT_EQ(recovery["agent_count"], 3);
  EXPECT_EQ(recovery["awaited_nodes"], "n0, n2, n3");
  EXPECT_GE(recovery["seconds"], 0);
  w.run();
  EXPECT_TRUE(cache()["recovery"].is_null());
}

TEST_F(CachesTest, WhenRanksAreElsewhereTheSetGoesByTheStore) {
  w.write("a", 1);
  w.ask(0, {3});
  w.ask(1, {2});
  w.ask(2, {1});
  w.ask(3, {0});
  w.run();
  EXPECT_TRUE(w.s.stored.contains("a")) << w.s.log;
  for (const char* node : {"n0", "n1", "n2", "n3"}) EXPECT_EQ(w.published[node], "store:a");
}

TEST_F(CachesTest, WhatIsMadeAgainIsWhereNothingElseOfItsGroupIs) {
  w.write("a", 1);
  w.lose(1);
  w.ask_all(0);
  EXPECT_TRUE(w.agents[4].stage.contains("a"))
      << "a node without any is there, though the rank asks at n0: " << w.s.log;
  EXPECT_THAT(w.agents[0].stage["a"].encodings, SizeIs(1));
}

TEST_F(CachesTest, WhoCannotPutItInItsPlaceIsToBlameAndItIsMendedThere) {
  w.write("a", 1);
  w.write("b", 2);
  w.agents[2].misplaces = 1;
  w.ask_all();
  for (const char* node : {"n0", "n1", "n2", "n3"}) EXPECT_EQ(w.published[node], "b") << w.s.log;
  EXPECT_THAT(w.s.log, HasSubstr("cannot be put in its place on n2: it is not in this stage any more"));
  EXPECT_THAT(w.s.inbox[w.agents[2].session].refused, IsEmpty());
  EXPECT_THAT(w.s.inbox[w.agents[2].session].restarted, SizeIs(1));
}

TEST_F(CachesTest, WhatCannotBePutInItsPlaceComesFromTheStoreThenTheOneBefore) {
  for (const bool is_stored : {true, false}) {
    CacheWorld n{caching(), 5};
    n.write("a", 1);
    if (is_stored) n.flush = wire::FlushWish::always;
    n.write("b", 2);
    n.agents[2].misplaces = 3;
    n.ask_all();
    for (const char* node : {"n0", "n1", "n2", "n3"})
      EXPECT_EQ(n.published[node], is_stored ? "store:b" : "a") << n.s.log;
  }
}

TEST_F(CachesTest, DamagedPiecesAreRepaired) {
  w.write("a", 1);
  wire::BadPiecesT run;
  run.position = w.agents[0].stage["a"].encodings[0].order.position;
  run.row = 1;
  run.count = 1;
  w.agents[0].bad.push_back(run);
  w.ask_all();
  EXPECT_EQ(w.repairs, 4u);
  EXPECT_EQ(w.published["n0"], "a") << w.s.log;
}

TEST_F(CachesTest, WhatIsTooDamagedIsSetAsideAndTheOneBeforeTaken) {
  w.write("a", 1);
  w.write("b", 2);
  for (const uint32_t node : {0, 1}) {
    wire::BadPiecesT run;
    run.position = w.agents[node].stage["b"].encodings[0].order.position;
    run.row = 1;
    run.count = 1;
    w.agents[node].bad.push_back(run);
  }
  w.ask_all();
  EXPECT_EQ(w.published["n0"], "a") << w.s.log;
  EXPECT_TRUE(w.agents[2].quarantine.contains("b"));
  EXPECT_THAT(w.s.log, HasSubstr("set b is passed over"));
}

TEST_F(CachesTest, WhatHasLostTooMuchIsPassedOverWithTheReason) {
  w.write("a", 1);
  w.lose(1);
  w.lose(2);
  w.ask_all(4);
  EXPECT_EQ(w.nothing, 3u) << w.s.log;
  EXPECT_THAT(w.messages, Contains(HasSubstr("has lost 2 of 4 members")));
  EXPECT_TRUE(w.agents[0].stage.contains("a")) << "it is not removed";
}

TEST_F(CachesTest, WhatTheApplicationRefusesIsOfferedNoMore) {
  w.write("a", 1);
  w.write("b", 2);
  w.ask_all();
  w.s.send(w.agents[0].session, wire::RejectT{.set = "b", .stored_as = {}, .reason = "NaN"});
  w.run();
  for (uint32_t i = 0; i < 4; ++i) EXPECT_TRUE(w.agents[i].quarantine.contains("b"));
  w.ask_all();
  EXPECT_EQ(w.published["n2"], "a") << w.s.log;
}

TEST_F(CachesTest, ASetOfTheStoreThatIsRefusedIsSetAside) {
  w.flush = wire::FlushWish::always;
  w.write("a", 1);
  w.write("b", 2);
  w.s.send(w.agents[0].session, wire::RejectT{.set = "b", .stored_as = "b", .reason = "NaN"});
  w.run();
  ASSERT_THAT(w.s.aside, SizeIs(1));
  EXPECT_EQ(w.s.aside[0].name, "b");
  w.ask_all();
  EXPECT_EQ(w.published["n2"], "a") << w.s.log;
}

TEST_F(CachesTest, SomebodyWhoSpeaksForTheJobRejectsASetEverywhere) {
  w.flush = wire::FlushWish::always;
  w.write("a", 1);
  w.write("b", 2);
  w.s.send(w.s.join(), wire::RejectT{.set = "b", .stored_as = {}, .reason = "NaN"});
  w.run();
  for (uint32_t i = 0; i < 4; ++i) EXPECT_TRUE(w.agents[i].quarantine.contains("b"));
  ASSERT_THAT(w.s.aside, SizeIs(1)) << "the caches know what the store calls it";
  EXPECT_EQ(w.s.aside[0].name, "b");
  w.ask_all();
  EXPECT_EQ(w.published["n2"], "a") << w.s.log;
}

TEST_F(CachesTest, PartsOfTwoWritingsAreNeverMixed) {
  for (uint32_t i = 0; i < 3; ++i) w.write_on(i, "a", 1);
  ++w.writes;
  w.write_on(3, "a", 1);
  w.run();
  EXPECT_EQ(w.told(SetState::cached, "a"), 0u);
  for (uint32_t i = 0; i < 3; ++i) w.write_on(i, "a", 1);
  w.run();
  EXPECT_EQ(w.told(SetState::cached, "a"), 4u) << w.s.log;
}

TEST_F(CachesTest, AnotherCoordinatorLearnsOfTheCaches) {
  w.write("a", 1);
  w.write("b", 2);
  CacheWorld again{caching(), 5};
  for (uint32_t i = 0; i < 4; ++i) {
    again.agents[i].stage = std::move(w.agents[i].stage);
    for (auto& [name, set] : again.agents[i].stage) {
      set.exposure = 0;
      if (name == "b" && i != 2) set.encodings[0].is_sealed = false;
      if (name == "b") set.state = SetState::incomplete;  // its news did not come
      again.offer(again.agents[i], name);
    }
  }
  again.run();
  EXPECT_EQ(again.told(SetState::cached, "b"), 4u) << again.s.log;
  EXPECT_THAT(again.agents[0].stage["b"].encodings, SizeIs(1)) << "it is not encoded again";
  again.lose(0);
  again.ask_all(4);
  EXPECT_EQ(again.published["n4"], "b") << again.s.log;
}

// They may have sealed it, and been lost before anybody heard that it is safe: what is left goes for no set.
TEST_F(CachesTest, OneSealedPartAloneIsNoSafeSet) {
  w.write("a", 1);
  for (const bool was_safe : {false, true}) {
    CacheWorld again{caching(), 5, 1, was_safe ? w.s.logged : Facts{}};
    again.agents[0].stage["a"] = w.agents[0].stage["a"];
    again.agents[0].stage["a"].exposure = 0;
    again.agents[0].stage["a"].state = SetState::incomplete;
    again.offer(again.agents[0], "a");
    again.pass(2 * again.s.options.peer_timeout + 1s);
    EXPECT_EQ(again.told(SetState::cached, "a"), was_safe ? 1u : 0u) << again.s.log;
  }
}

// What was made again is offered to a coordinator that has not ordered it, which tells what has become of the set.
TEST_F(CachesTest, APartThatWasMadeAgainWaitsForNobodyAtAnotherCoordinator) {
  w.write("a", 1);
  w.lose(1);
  w.ask_all(4);
  ASSERT_EQ(w.published["n4"], "a") << w.s.log;
  for (const bool has_others : {true, false}) {
    CacheWorld again{caching(), 5, 1, w.s.logged};
    for (const uint32_t i : {4u, 0u, 2u, 3u}) {
      if (i != 4 && !has_others) continue;  // they have made room for newer sets
      again.agents[i].stage["a"] = w.agents[i].stage["a"];
      again.agents[i].stage["a"].exposure = 0;
      if (i == 4) again.agents[i].stage["a"].state = SetState::incomplete;  // its news did not come
      again.offer(again.agents[i], "a");
    }
    again.run();
    if (!has_others) again.pass(2 * again.s.options.peer_timeout + 1s);
    EXPECT_EQ(again.agents[4].stage["a"].state, SetState::cached) << has_others << again.s.log;
    EXPECT_THAT(again.s.log, Not(HasSubstr("set a failed")));
  }
}

TEST_F(CachesTest, WhatWasSealedIsKnownToTheNextCoordinatorAtOnce) {
  w.write("a", 1);
  CacheWorld again{caching(), 4, 1, w.s.logged};
  FakeCacheSet& part = again.agents[2].stage["a"] = w.agents[2].stage["a"];
  part.exposure = 0;
  part.state = SetState::incomplete;  // its news did not come
  part.encodings[0].is_sealed = false;
  again.offer(again.agents[2], "a");
  again.run();
  EXPECT_EQ(part.state, SetState::cached) << "none of the others is there";
  EXPECT_TRUE(part.encodings[0].is_sealed);
}

// Its files may be seen, and offered, before what protects them: then it is a part of a set of its own for a moment.
TEST_F(CachesTest, APartThatIsOfferedBeforeItsEncodingBelongsToWhatIsSealed) {
  w.write("a", 1);
  CacheWorld again{caching(), 4, 1, w.s.logged};
  for (uint32_t i = 0; i < 4; ++i) {
    FakeCacheSet& part = again.agents[i].stage["a"] = w.agents[i].stage["a"];
    part.exposure = 0;
    part.encodings[0].is_sealed = false;
    again.agents[i].is_held = i != 2;  // the others have not heard yet that they are to seal it
    if (i != 2) again.offer(again.agents[i], "a");
  }
  FakeCacheSet& part = again.agents[2].stage["a"];
  part.state = SetState::incomplete;
  const auto encodings = std::exchange(part.encodings, {});
  again.offer(again.agents[2], "a");
  again.run();
  EXPECT_EQ(part.state, SetState::incomplete);
  part.encodings = encodings;
  again.offer(again.agents[2], "a");
  again.run();
  EXPECT_EQ(part.state, SetState::cached) << again.s.log;
  EXPECT_THAT(again.s.log, Not(HasSubstr("set a failed")));
}

// Nodes are lost and held at any moment. Whatever happens, all ranks begin from one set, and it is not older than the
// newest that was cached, as long as no more is lost than a group survives.
TEST(Caches, AnyOrderOfLossesEndsInOneSetForAll) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    CacheWorld w{caching(seed % 3), 6};
    w.write("s1", 1);
    ASSERT_TRUE(w.told(SetState::cached, "s1") == 4u || w.s.stored.contains("s1"));
    int64_t newest = 1;
    for (auto& agent : w.agents) agent.is_held = true;
    w.write("s2", 2);
    const auto some = [&](uint32_t steps) {
      for (uint32_t i = 0; i < steps; ++i) {
        FakeCacheAgent& agent = w.agents[random() % w.agents.size()];
        agent.is_held = false;
        w.act(agent);
        agent.is_held = true;
        if (random() % 4 == 0) w.s.serve_store();
      }
    };
    some(static_cast<uint32_t>(random()) % 60);
    if (w.told(SetState::cached, "s2") > 0 || w.s.stored.contains("s2")) newest = 2;
    w.lose(static_cast<uint32_t>(random() % 4));
    some(static_cast<uint32_t>(random()) % 20);
    std::map<uint32_t, std::vector<uint32_t>> asking;
    for (uint32_t rank = 0; rank < 4; ++rank) asking[w.agents[rank].session != 0 ? rank : 4].push_back(rank);
    for (auto& [node, ranks] : asking) w.ask(node, ranks);
    some(static_cast<uint32_t>(random()) % 80);
    for (auto& agent : w.agents) agent.is_held = false;
    w.pass(30s);
    for (auto& [node, ranks] : asking)
      if (!w.s.inbox[w.agents[node].session].refused.empty()) w.ask(node, ranks);
    w.pass(30s);
    std::set<std::string> begun;
    for (const auto& [node, ranks] : asking) begun.insert(w.published[w.agents[node].node]);
    ASSERT_THAT(begun, SizeIs(1)) << w.s.log;
    ASSERT_FALSE(begun.begin()->empty()) << w.s.log;
    EXPECT_GE(begun.begin()->back(), static_cast<char>('0' + newest)) << w.s.log;
  }
}

}  // namespace
}  // namespace forebay::job
