#include <nlohmann/json.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/coordinator/test_two_nodes.h"

namespace forebay::job {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using wire::SetState;

class ExcludeTest : public CoordinatorTest {
 protected:
  nlohmann::json exclude(const std::string& host) {
    const SessionId asker = s.join();
    wire::ExcludeT exclude;
    exclude.host = host;
    s.send(asker, std::move(exclude));
    return nlohmann::json::parse(s.inbox[asker].status.at(0));
  }
};

TEST_F(ExcludeTest, ASetThatIsDrainedAndNeedsTheNodeIsGivenUpAtOnce) {
  offer_all("s1", 1);
  s.serve_store();
  s.leave(b);
  s.pass(5s, {a, wa, wb});
  EXPECT_THAT(states(a), IsEmpty());
  const auto status = exclude("nb");
  EXPECT_THAT(states(a), ElementsAre(SetState::failed));
  EXPECT_THAT(s.inbox[a].news[0].message, HasSubstr("node nb is excluded"));
  EXPECT_THAT(status["excluded"], ElementsAre("nb"));
  EXPECT_THAT(status["sets"], IsEmpty());
}

TEST_F(ExcludeTest, ASetWhoseFilesOfTheNodeAreStoredGoesOn) {
  offer_all("s1", 1);
  s.serve_store();
  s.send(wb, success(take_task(wb)));  // the group of node nb
  s.leave(b);
  exclude("nb");
  work();
  EXPECT_THAT(states(a), ElementsAre(SetState::durable));
}

TEST_F(ExcludeTest, ANodeThatIsStillThereEndsAndIsLetInNoMore) {
  exclude("nb");
  EXPECT_THAT(s.inbox[b].stops, SizeIs(1));
  EXPECT_TRUE(s.inbox[b].closed);
  const SessionId again = s.agent("nb");
  EXPECT_THAT(s.inbox[again].stops, SizeIs(1));
  EXPECT_TRUE(s.inbox[again].closed);
  EXPECT_FALSE(s.inbox[again].welcome);
  const auto status = exclude("nb");
  EXPECT_THAT(status["agents"], SizeIs(1));
}

TEST_F(ExcludeTest, ASetThatIsNotCompleteIsGivenUp) {
  offer(a, "s1", {0, 1});
  s.serve_store();
  s.leave(b);
  exclude("nb");
  EXPECT_THAT(states(a), ElementsAre(SetState::failed));
}

// The spare is faster than node na, whose part is still that of the first attempt.
TEST_F(ExcludeTest, PartsOfTwoAttemptsDoNotMakeASet) {
  offer(a, "s1", {0, 1});
  s.serve_store();
  s.leave(b);
  exclude("nb");
  const SessionId c = s.agent("nc");
  offer(c, "s1", {2, 3}, {}, 8);
  work();
  EXPECT_THAT(states(c), IsEmpty());
  offer(a, "s1", {0, 1}, {}, 8);
  work();
  EXPECT_THAT(states(c), ElementsAre(SetState::durable));
  ASSERT_EQ(s.commits.size(), 1u);
  EXPECT_EQ(s.commits[0].manifest.sources.size(), 2u);
}

TEST_F(ExcludeTest, ASetThatIsWrittenAgainHasItsTime) {
  offer(a, "s1", {0, 1});
  s.serve_store();
  s.leave(b);
  exclude("nb");
  const SessionId c = s.agent("nc");
  s.inbox[a].news.clear();
  offer(a, "s1", {0, 1}, {}, 8);
  s.pass(2 * s.options.peer_timeout + 1s, {a, c, wa, wb});
  EXPECT_THAT(states(a), IsEmpty());
  offer(c, "s1", {2, 3}, {}, 8);
  work();
  EXPECT_THAT(states(a), ElementsAre(SetState::durable));
  EXPECT_THAT(states(c), ElementsAre(SetState::durable));
}

TEST_F(ExcludeTest, ARestartDoesNotWaitForWhatCannotBeHad) {
  offer_all("s1", 1);
  work();
  offer_all("s2", 2);
  s.serve_store();
  s.leave(b);
  const SessionId c = s.agent("nc");
  for (const auto& [agent, ranks] :
       {std::pair(a, std::vector<uint32_t>{0, 1}), std::pair(c, std::vector<uint32_t>{2, 3})}) {
    wire::RestartRequestT request;
    request.ranks = ranks;
    request.total = 4;
    s.send(agent, std::move(request));
  }
  s.pass(5s, {a, c, wa, wb});
  EXPECT_THAT(s.log, testing::Not(HasSubstr("restart: set")));
  exclude("nb");
  s.serve_store();
  EXPECT_THAT(s.log, HasSubstr("restart: set s1 is delivered"));
}

TEST_F(ExcludeTest, TheStatusTellsWhetherTheApplicationProgresses) {
  wire::PingT ping;
  ping.processes = 3;
  ping.processor_ms = 1500;
  s.send(a, std::move(ping));
  offer_all("s1", 1);
  work();
  const auto status = exclude("nb");
  EXPECT_EQ(status["completed_set_count"], 1);
  EXPECT_EQ(status["agents"][0]["process_count"], 3);
  EXPECT_EQ(status["agents"][0]["cpu_seconds"], 1.5);
}

}  // namespace
}  // namespace forebay::job
