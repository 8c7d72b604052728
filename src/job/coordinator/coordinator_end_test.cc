// The end of a job whose sets are in the caches: what is stored, and what is reported as not stored.
#include <gmock/gmock.h>

#include "job/coordinator/test_caches.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using testing::SizeIs;

TEST_F(CachesTest, TheNewestOfTheCachesIsStoredAtTheEnd) {
  w.write("a", 1);
  w.write("b", 2);
  w.lose(0);
  w.run();
  w.s.send(w.s.join(), stop_and_drain());
  w.pass(10s);
  EXPECT_TRUE(w.s.stored.contains("b")) << w.s.log;
  EXPECT_FALSE(w.s.stored.contains("a"));
  EXPECT_TRUE(w.s.coordinator.stopped());
}

TEST_F(CachesTest, ASetThatLosesANodeWhileItIsStoredAtTheEndIsMendedAndStored) {
  w.write("a", 1);
  w.works = false;
  w.s.send(w.s.join(), stop_and_drain());
  w.pass(5s);
  ASSERT_FALSE(w.s.inbox[w.worker].tasks.empty()) << w.s.log;
  w.lose(0);
  w.pass(61s);  // its agent did not come back
  w.works = true;
  w.pass(20s);
  EXPECT_TRUE(w.s.stored.contains("a")) << w.s.log;
  EXPECT_TRUE(w.s.coordinator.stopped());
}

TEST_F(CachesTest, WhatCannotBeStoredAtTheEndIsInTheLastStatus) {
  w.write("a", 1);
  w.lose(0);
  w.lose(1);
  const SessionId asker = w.s.join();
  w.s.send(asker, stop_and_drain());
  w.pass(40s);
  ASSERT_TRUE(w.s.coordinator.stopped());
  ASSERT_FALSE(w.s.inbox[asker].status.empty()) << "the last status comes before the end";
  EXPECT_THAT(w.s.inbox[asker].status.back(), testing::HasSubstr("set a of the caches is not stored"));
}

// A restart may have passed the newest durable set over: what it took is then the newest.
TEST_F(CachesTest, TheEndStoresWhatWasRestartedFromThoughANewerSetIsDurable) {
  for (const bool is_refused : {false, true}) {
    CacheWorld one{caching(2), 4};
    one.write("a", 1);
    one.write("b", 2);
    ASSERT_TRUE(one.s.stored.contains("b"));
    ASSERT_FALSE(one.s.stored.contains("a"));
    if (is_refused) {
      one.s.send(one.agents[0].session, wire::RejectT{.set = "b", .stored_as = "b", .reason = "NaN"});
      one.run();
      one.ask_all();
      EXPECT_EQ(one.published["n2"], "a") << one.s.log;
    }
    one.s.send(one.s.join(), stop_and_drain());
    one.pass(40s);
    ASSERT_TRUE(one.s.coordinator.stopped());
    EXPECT_EQ(one.s.stored.contains("a"), is_refused) << one.s.log;
  }
}

// They may have left for a moment only.
TEST_F(CachesTest, TheEndWaitsForThoseWhoHadTheNewest) {
  for (const bool comes_back : {false, true}) {
    CacheWorld one{caching(), 4};
    one.write("a", 1);
    std::vector<std::map<std::string, FakeCacheSet>> stages;
    for (uint32_t i = 0; i < 4; ++i) {
      stages.push_back(one.agents[i].stage);
      one.lose(i);
    }
    const SessionId asker = one.s.join();
    one.s.send(asker, stop_and_drain());
    one.pass(one.s.options.peer_timeout);
    EXPECT_FALSE(one.s.coordinator.stopped());
    for (uint32_t i = 0; comes_back && i < 4; ++i) {
      one.agents[i].stage = stages[i];
      one.join(i);
    }
    one.pass(10 * one.s.options.peer_timeout);
    ASSERT_TRUE(one.s.coordinator.stopped()) << one.s.log;
    EXPECT_EQ(one.s.stored.contains("a"), comes_back) << one.s.log;
    EXPECT_EQ(one.s.inbox[asker].status.back().contains("nobody has anything of it any more"), !comes_back);
  }
}

// The holders that are left may have nothing of it that they would offer, and the next coordinator reports it still,
// unless all of it comes back.
TEST_F(CachesTest, WhatCannotBeStoredAtTheEndIsReportedByTheNextCoordinator) {
  w.write("a", 1);
  const auto stage_of = [&](uint32_t i) { return w.agents[i].stage; };
  const std::vector stages = {stage_of(0), stage_of(1), stage_of(2), stage_of(3)};
  w.lose(0);
  w.lose(1);
  w.s.send(w.s.join(), stop_and_drain());
  w.pass(40s);
  EXPECT_THAT(w.s.logged.not_stored, SizeIs(1));
  for (const bool comes_back : {false, true}) {
    CacheWorld again{caching(), 4, 1, w.s.logged};
    for (uint32_t i = 0; comes_back && i < 4; ++i) {
      again.agents[i].stage = stages[i];
      again.agents[i].stage["a"].exposure = 0;
      again.offer(again.agents[i], "a");
    }
    const SessionId asker = again.s.join();
    again.s.send(asker, stop_and_drain());
    again.pass(40s);
    ASSERT_TRUE(again.s.coordinator.stopped());
    EXPECT_EQ(again.s.stored.contains("a"), comes_back) << again.s.log;
    const std::string& status = again.s.inbox[asker].status.back();
    EXPECT_EQ(status.contains("set a of the caches is not stored"), !comes_back) << status;
  }
}

}  // namespace
}  // namespace forebay::job
