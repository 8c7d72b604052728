// However many nodes and files a set has, no call of the coordinator has much to do, and nothing is lost between two.
#include <gmock/gmock.h>

#include "job/coordinator/test_two_nodes.h"

namespace forebay::job {
namespace {

constexpr uint32_t kAgents = 3000, kWorkers = 100;
constexpr size_t kMost = 1100;  // messages of one call

// One rank on each node, in a group of its own.
class SlicesTest : public testing::Test {
 protected:
  SlicesTest() {
    for (uint32_t i = 0; i < kAgents; ++i) agents.push_back(s.agent("node" + std::to_string(i)));
    for (uint32_t i = 0; i < kWorkers; ++i) workers.push_back(s.worker("transfer" + std::to_string(i)));
    s.most_messages = 0;
  }
  void offer_all() {
    for (uint32_t i = 0; i < kAgents; ++i) s.send(agents[i], offer_of("s1", {i}, kAgents, 1));
  }
  template <class Command>
  void answer_next(StoreAnswer (*with)(const Command&)) {
    s.answer(with(s.take_command<Command>()));
  }
  // Until the store is to commit.
  Commit pack() {
    answer_next<LookUp>([](const LookUp& c) -> StoreAnswer { return LookedUp{c.set, std::vector<StoredSet>{}, 0}; });
    answer_next<Stage>([](const Stage& c) -> StoreAnswer {
      return Staged{c.set, StagedPlace{.name = c.name, .staged = "staged", .number = 1}};
    });
    for (bool some = true; some;) {
      some = false;
      for (const SessionId worker : workers)
        while (!s.inbox[worker].tasks.empty()) {
          const wire::TaskT task = s.inbox[worker].tasks.front();
          s.inbox[worker].tasks.pop_front();
          s.send(worker, success(task));
          some = true;
        }
    }
    return s.take_command<Commit>();
  }

  Stand s{small_groups(1)};
  std::vector<SessionId> agents, workers;
};

TEST_F(SlicesTest, NewsAndTasksGoOutAFewAtATime) {
  offer_all();
  const Commit commit = pack();
  EXPECT_EQ(commit.manifest.containers.size(), kAgents);
  s.answer(Committed{commit.set, {}});
  for (const SessionId agent : agents) {
    ASSERT_EQ(s.inbox[agent].news.size(), 1u);
    EXPECT_EQ(s.inbox[agent].news[0].state, wire::SetState::durable);
    EXPECT_EQ(s.inbox[agent].news[0].exposure, 1u);
  }
  EXPECT_LT(s.most_messages, kMost);
}

TEST_F(SlicesTest, TheNewsComeBeforeTheEnd) {
  offer_all();
  const Commit commit = pack();
  const SessionId asker = s.join();
  s.coordinator.answered(Committed{commit.set, {}}, s.now);
  wire::MessageT stop;
  stop.body.Set(wire::StopRequestT{});
  check(s.coordinator.received(asker, std::move(stop), s.now));
  std::map<SessionId, std::string> said;
  for (const auto& [to, message, at_once] : s.coordinator.take_output().messages) {
    if (message.body.type == wire::Body::SetNews) said[to] += "news ";
    if (message.body.type == wire::Body::Stop) said[to] += "stop ";
  }
  for (const SessionId agent : agents) ASSERT_EQ(said[agent], "news stop ");
}

// A restart waits for the news, too: what an agent publishes may have the name of a set of which it has not heard yet.
TEST_F(SlicesTest, TheNewsComeBeforeARestart) {
  offer_all();
  const Commit commit = pack();
  s.coordinator.answered(Committed{commit.set, {}}, s.now);
  for (uint32_t i = 0; i < kAgents; ++i) {
    wire::MessageT request;
    wire::RestartRequestT restart;
    restart.ranks = {i};
    restart.total = kAgents;
    request.body.Set(std::move(restart));
    check(s.coordinator.received(agents[i], std::move(request), s.now));
  }
  for (const SessionId agent : agents) {
    wire::MessageT answer;
    answer.body.Set(settled(1));
    check(s.coordinator.received(agent, std::move(answer), s.now));
  }
  EXPECT_THAT(s.coordinator.take_output().commands, testing::IsEmpty()) << "the store is not asked yet";
  while (s.coordinator.next_tick() <= s.now) s.coordinator.tick(s.now);
  s.coordinator.tick(s.now += 1s);
  EXPECT_THAT(s.coordinator.take_output().commands, testing::SizeIs(1));
}

}  // namespace
}  // namespace forebay::job
