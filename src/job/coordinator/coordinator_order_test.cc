// Which places sets get in their series.
#include <gmock/gmock.h>

#include "job/coordinator/test_caches.h"
#include "job/coordinator/test_two_nodes.h"

namespace forebay::job {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(CoordinatorTest, SetsHavePlacesWhenTheyAreCompletedNotWhenTheyAreStored) {
  s.stored["old"] = {.name = "old", .step = 70, .ordinal = 4};
  offer(a, "s1", {0, 1}, 1);
  offer(a, "s2", {0, 1}, 2);
  offer(b, "s2", {2, 3}, 2);
  s.serve_store();
  ASSERT_EQ(s.inbox[b].placed.size(), 1u);
  EXPECT_EQ(s.inbox[b].placed[0].set, "s2");
  EXPECT_EQ(s.inbox[b].placed[0].ordinal, 5u);
  offer(b, "s1", {2, 3}, 1);
  work();
  EXPECT_EQ(s.stored.at("s2").ordinal, 5u);
  EXPECT_EQ(s.stored.at("s1").ordinal, 6u);
  EXPECT_EQ(s.inbox[a].news.back().ordinal, 6u);
  EXPECT_THAT(s.log, HasSubstr("its step 2 lies below 70, that of the one before, old: another run? (--series)"));
  s.log.clear();
  offer_all("s0", 0);
  work();
  EXPECT_THAT(s.log, Not(HasSubstr("another run?"))) << "it is said once";
}

TEST_F(CoordinatorTest, ASetThatIsWrittenAgainIsTheNewest) {
  offer_all("a", 1);
  offer_all("b", 2);
  work();
  offer_all("a", 1, 8);
  work();
  EXPECT_EQ(s.stored.at("a").ordinal, 1u);
  EXPECT_EQ(s.stored.at("b").ordinal, 2u);
  EXPECT_EQ(s.stored.at("a+2").ordinal, 3u);
}

TEST_F(CoordinatorTest, ASetThatWasOnlyAwayKeepsItsPlace) {
  s.leave(wa);
  s.leave(wb);
  offer_all("drained", 1);
  offer_all("a", 2);
  offer_all("b", 3);
  s.serve_store();
  s.leave(b);
  b = s.agent("nb");
  offer(b, "b", {2, 3}, 3);
  offer(b, "a", {2, 3}, 2, 9);
  s.serve_store();
  ASSERT_EQ(s.inbox[b].placed.size(), 2u);
  EXPECT_EQ(s.inbox[b].placed[0].ordinal, 3u);
  EXPECT_EQ(s.inbox[b].placed[1].ordinal, 4u) << "it was written to";
}

TEST_F(CoordinatorTest, TheNextCoordinatorHearsPlacesFromAgents) {
  const auto offer_with = [&](SessionId agent, const std::string& set, std::vector<uint32_t> ranks, uint64_t ordinal) {
    wire::OfferT offered = offer_of(set, std::move(ranks), 4, ++exposure);
    offered.ordinal = ordinal;
    s.send(agent, std::move(offered));
  };
  // Agent a had been told less than agent b when the one before died; new is complete only now.
  offer_with(a, "y", {0, 1}, 0);
  offer_with(a, "x", {0, 1}, 6);
  offer_with(a, "new", {0, 1}, 0);
  offer_with(b, "x", {2, 3}, 6);
  offer_with(b, "y", {2, 3}, 7);
  offer_with(b, "new", {2, 3}, 0);
  s.serve_store();
  std::map<std::string, uint64_t> places;
  for (const wire::PlacedT& placed : s.inbox[a].placed) places[placed.set] = placed.ordinal;
  EXPECT_EQ(places, (std::map<std::string, uint64_t>{{"x", 6}, {"y", 7}, {"new", 8}}));
}

TEST(CacheOrder, ARestartTakesWhatWasCompletedLast) {
  CoordinatorOptions with;
  with.flush_every = 0;
  with.protection.scheme = redundancy::Scheme::none;
  CacheWorld w{with, 4};
  w.write("dump_10", 10);
  w.write("dump_1", 1);
  for (uint32_t node = 0; node < 4; ++node) EXPECT_EQ(w.agents[node].stage.at("dump_1").ordinal, 2u);
  w.ask_all();
  EXPECT_EQ(w.published["n3"], "dump_1");
}

}  // namespace
}  // namespace forebay::job
