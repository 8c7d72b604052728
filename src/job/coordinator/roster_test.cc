#include "job/coordinator/roster.h"

#include <gmock/gmock.h>

#include "job/test_job.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class RosterTest : public testing::Test {
 protected:
  Result<Roster::Welcome> agent(SessionId id, const std::string& host, const std::string& stage = "/stage") {
    roster.connected(id, "test", now);
    auto hello = std::make_unique<wire::AgentHelloT>();
    hello->host = hello->node = host;
    hello->stage = stage;
    return roster.greet(id, std::move(hello));
  }
  void worker(SessionId id, const std::string& host, uint64_t pid) {
    roster.connected(id, "test", now);
    auto hello = std::make_unique<wire::WorkerHelloT>();
    hello->host = host;
    hello->pid = pid;
    check(roster.greet(id, std::move(hello)));
  }

  Roster::Time now{100h};
  Roster roster;
};

TEST_F(RosterTest, AnAgentThatComesAgainTakesTheOldOnesPlace) {
  EXPECT_EQ(value(agent(1, "a")).replaced, 0u);
  EXPECT_EQ(value(agent(2, "a", "/other")).replaced, 0u) << "another stage of the same node";
  EXPECT_EQ(value(agent(3, "a")).replaced, 1u);
  const std::string key = roster.find(3)->key;
  EXPECT_EQ(roster.agents().at(key), 3u);
  EXPECT_TRUE(roster.left(1));
  EXPECT_EQ(roster.agents().at(key), 3u) << "the place is the new one's";
  EXPECT_EQ(roster.hosts().at(key), "a");
  EXPECT_TRUE(roster.left(3));
  EXPECT_FALSE(roster.agents().contains(key));
  EXPECT_FALSE(roster.hosts().contains(key));
  EXPECT_FALSE(roster.left(3));
}

TEST_F(RosterTest, NobodySaysTwiceWhoItIs) {
  value(agent(1, "a"));
  EXPECT_EQ(error(roster.greet(1, std::make_unique<wire::WorkerHelloT>())).kind, ErrorKind::corrupt);
  worker(2, "b", 7);
  EXPECT_EQ(error(roster.greet(2, std::make_unique<wire::AgentHelloT>())).kind, ErrorKind::corrupt);
}

TEST_F(RosterTest, WhoIsSilentIsKnownButWhoAsksMayWait) {
  value(agent(1, "a"));
  worker(2, "b", 7);
  roster.connected(3, "test", now);
  roster.connected(4, "test", now);
  roster.asks(4);
  now += 10s;
  roster.heard(2, now);
  EXPECT_THAT(roster.silent(now, 10s), IsEmpty());
  now += 1ms;
  EXPECT_THAT(roster.silent(now, 10s), ElementsAre(1, 3));
  roster.forgive(5s);
  EXPECT_THAT(roster.silent(now, 10s), IsEmpty());
  EXPECT_EQ(roster.heard(9, now), nullptr);
}

TEST_F(RosterTest, WhoAsksStaysWhatItIs) {
  value(agent(1, "a"));
  roster.asks(1);
  EXPECT_EQ(roster.find(1)->role, Session::Role::agent);
}

TEST_F(RosterTest, AnExcludedNodeIsNotLetIn) {
  value(agent(1, "a"));
  value(agent(2, "b"));
  value(agent(3, "a", "/other"));
  const auto theirs = roster.exclude("a");
  ASSERT_TRUE(theirs);
  EXPECT_THAT(*theirs, testing::UnorderedElementsAre(1, 3));
  EXPECT_FALSE(roster.exclude("a"));
  EXPECT_TRUE(value(agent(4, "a")).is_excluded);
  EXPECT_EQ(roster.find(4)->role, Session::Role::none);
}

TEST_F(RosterTest, OtherWorkersAreThoseOfOtherProcesses) {
  worker(1, "a", 7);
  EXPECT_FALSE(roster.has_other_workers("a", 7));
  EXPECT_TRUE(roster.has_other_workers("a", 8));
  value(agent(2, "b"));
  EXPECT_FALSE(roster.has_other_workers("a", 7)) << "an agent is none";
  worker(3, "b", 7);
  EXPECT_TRUE(roster.has_other_workers("a", 7));
}

}  // namespace
}  // namespace forebay::job
