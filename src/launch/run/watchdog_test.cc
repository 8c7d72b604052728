#include "launch/run/watchdog.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/run/overseer.h"

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Time = std::chrono::steady_clock::time_point;

const Time kBegin{1000h};

Sight sight_of(std::chrono::milliseconds used, uint64_t sets = 0, uint32_t processes = 2) {
  Sight sight;
  sight.generation = 1;
  sight.sets_completed = sets;
  sight.nodes = {{"n1", 1s, processes, 0ms}, {"n2", 1s, processes, used}};
  return sight;
}

class ProgressTest : public testing::Test {
 protected:
  // What is found at a look every second from then on, as `sight` shows it; the time of the first finding in seconds,
  // or 0.
  int first_finding(const std::function<std::optional<Sight>(int)>& sight, int seconds = 60) {
    watch.begin(kBegin);
    for (int i = 1; i <= seconds; ++i)
      if (const auto why = watch.look(sight(i), kBegin + i * 1s)) {
        text = *why;
        return i;
      }
    return 0;
  }
  ProgressWatch watch{{.hang = 20s}};
  std::string text;
};

TEST_F(ProgressTest, WhoDoesNothingHangs) {
  EXPECT_EQ(first_finding([](int) { return sight_of(5s); }), 20);
  EXPECT_THAT(text, HasSubstr("no set and used no processor time for 20 s"));
}

TEST_F(ProgressTest, ProcessorTimeOfOneNodeIsProgress) {
  EXPECT_EQ(first_finding([](int i) { return sight_of(i * 50ms); }), 0);
}

TEST_F(ProgressTest, WhatWaitingTakesIsNone) {
  EXPECT_THAT(first_finding([](int i) { return sight_of(i * 5ms); }), testing::AllOf(testing::Ge(20), testing::Le(42)));
}

TEST_F(ProgressTest, ACompletedSetIsProgress) {
  EXPECT_EQ(first_finding([](int i) { return sight_of(0ms, i / 15); }), 0);
  EXPECT_EQ(first_finding([](int i) { return sight_of(0ms, i / 25); }), 20);
}

TEST_F(ProgressTest, OfANewCoordinatorTheCountBeginsAnew) {
  const auto finding = first_finding([](int i) {
    Sight sight = sight_of(0ms, i < 10 ? 7 : 1);
    sight.generation = i < 10 ? 1 : 2;
    return sight;
  });
  EXPECT_EQ(finding, 30);
}

TEST_F(ProgressTest, WhoMayWaitForForebayDoesNotHang) {
  const auto finding = first_finding([](int i) {
    Sight sight = sight_of(0ms);
    sight.is_busy = i <= 30;
    return sight;
  });
  EXPECT_EQ(finding, 50);
}

TEST_F(ProgressTest, WhatNobodyTellsIsNotJudged) {
  EXPECT_EQ(first_finding([](int) { return std::nullopt; }), 0);
  EXPECT_EQ(first_finding([](int) { return sight_of(0ms, 0, 0); }), 0) << "no process is known";
  EXPECT_TRUE(watch.is_blind());
}

TEST_F(ProgressTest, ANewAgentBeginsItsCountAnew) {
  EXPECT_EQ(first_finding([](int i) { return sight_of(i < 10 ? 100s : 1s); }), 20);
}

TEST_F(ProgressTest, WhoSpinsHangsIfSetsAreAskedFor) {
  watch = ProgressWatch({.hang = 20s, .interval = 25s});
  EXPECT_EQ(first_finding([](int i) { return sight_of(i * 1s, i / 10 < 2 ? i / 10 : 2); }), 45);
  EXPECT_THAT(text, HasSubstr("no set for 25 s"));
}

TEST(NodeWatch, ANodeIsLostWhenItsAgentStaysAway) {
  NodeWatch watch(10s);
  const std::vector<std::string> hosts{"n1", "n2"};
  Sight sight = sight_of(0ms);
  EXPECT_THAT(watch.look(hosts, sight, kBegin), IsEmpty());
  sight.nodes.pop_back();
  EXPECT_THAT(watch.look(hosts, sight, kBegin + 1s), IsEmpty());
  EXPECT_THAT(watch.look(hosts, sight, kBegin + 10s), IsEmpty());
  EXPECT_THAT(watch.look(hosts, sight, kBegin + 11s), ElementsAre("n2"));
}

TEST(NodeWatch, OneThatComesBackIsNotLost) {
  NodeWatch watch(10s);
  const std::vector<std::string> hosts{"n1", "n2"};
  Sight without = sight_of(0ms);
  without.nodes.pop_back();
  for (int i = 0; i < 100; ++i)
    EXPECT_THAT(watch.look(hosts, i % 9 == 8 ? sight_of(0ms) : without, kBegin + i * 1s), IsEmpty()) << i;
}

TEST(NodeWatch, WhoSeesNobodyIsCutOffItself) {
  NodeWatch watch(10s);
  Sight nobody;
  nobody.generation = 1;
  for (int i = 0; i < 100; i += 5) {
    EXPECT_THAT(watch.look({"n1", "n2"}, nobody, kBegin + i * 1s), IsEmpty());
    EXPECT_THAT(watch.look({"n1", "n2"}, std::nullopt, kBegin + (i + 1) * 1s), IsEmpty());
  }
  EXPECT_THAT(watch.look({"n1"}, nobody, kBegin + 101s), IsEmpty());
  EXPECT_THAT(watch.look({"n1"}, nobody, kBegin + 111s), ElementsAre("n1")) << "of one node it cannot be told";
}

TEST(Watchdog, TellsWhetherAllWereHeardSince) {
  const Sight sight = sight_of(0ms);  // silent for 1 s
  EXPECT_TRUE(all_heard_since({"n1", "n2"}, sight, kBegin, kBegin + 2s));
  EXPECT_FALSE(all_heard_since({"n1", "n2"}, sight, kBegin, kBegin + 1s));
  EXPECT_FALSE(all_heard_since({"n1", "n3"}, sight, kBegin, kBegin + 2s));
}

TEST(Sight, IsWhatTheStatusSays) {
  const auto sight = parse_sight(R"({"generation": 3, "completed_set_count": 5, "excluded": ["n9"], "sets": [],
      "no_set": "no set became complete for 90 s", "store_fills": "the store fills up",
      "agents": [{"host": "n1", "silent_seconds": 0.25, "process_count": 4, "cpu_seconds": 1.5}, {"host": 7}, 8]})");
  ASSERT_TRUE(sight);
  EXPECT_EQ(sight->generation, 3u);
  EXPECT_EQ(sight->sets_completed, 5u);
  EXPECT_FALSE(sight->is_busy);
  ASSERT_EQ(sight->nodes.size(), 2u);
  EXPECT_EQ(sight->find("n1")->silent, 250ms);
  EXPECT_EQ(sight->find("n1")->processes, 4u);
  EXPECT_EQ(sight->find("n1")->processor_time, 1500ms);
  EXPECT_EQ(sight->find("n2"), nullptr);
  EXPECT_THAT(sight->excluded, ElementsAre("n9"));
  EXPECT_EQ(sight->no_set, "no set became complete for 90 s");
  EXPECT_EQ(sight->store_fills, "the store fills up");
  EXPECT_FALSE(parse_sight(""));
  EXPECT_FALSE(parse_sight("[]"));
  EXPECT_FALSE(parse_sight(R"({"error": {"kind": "timeout"}})"));
}

TEST(Sight, TheApplicationMayWaitForADrainAndForARestartThatAllHaveAskedFor) {
  const auto is_busy = [](const std::string& more) {
    return parse_sight(R"({"generation": 1, )" + more + "}")->is_busy;
  };
  EXPECT_TRUE(is_busy(R"("sets": [{"complete": false}, {"complete": true}])"));
  EXPECT_FALSE(is_busy(R"("sets": [{"complete": false}])"));
  EXPECT_TRUE(is_busy(R"("restart": {"asked_rank_count": 4, "rank_count": 4})"));
  EXPECT_FALSE(is_busy(R"("restart": {"asked_rank_count": 3, "rank_count": 4})")) << "one of them may hang";
}

TEST(Overseer, LooksAlsoWhereNothingIsToEndTheApplication) {
  const Overseer overseer({}, {"the look", {"true"}}, {});
  EXPECT_LE(overseer.next_tick(), std::chrono::steady_clock::now() + 10s);
  EXPECT_EQ(Overseer({}, {}, {}).next_tick(), Overseer::Time::max());
}

}  // namespace
}  // namespace forebay::launch
