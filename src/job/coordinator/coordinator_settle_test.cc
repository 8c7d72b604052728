// How a coordinator finds out what the stages hold when the application rests.
#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

#include "job/coordinator/test_two_nodes.h"

namespace forebay::job {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SettleTest : public CoordinatorTest {
 protected:
  SettleTest() { s.agents_settle = false; }
  // The agent's answer to what it was asked last.
  void answer(SessionId agent, const std::vector<std::string>& names = {}, uint32_t more = 0) {
    ASSERT_FALSE(s.inbox[agent].settles.empty());
    wire::SettledT said = settled(s.inbox[agent].settles.back());
    said.more = more;
    for (const std::string& name : names) {
      auto& row = *said.left.emplace_back(std::make_unique<wire::LeftT>());
      row.name = name;
      row.reason = "rank 1 has not completed it";
    }
    s.send(agent, std::move(said));
    s.serve_store();
  }
  void stop(bool settle = true) {
    asker = s.join();
    wire::StopRequestT request;
    request.drain = true;
    request.settle = settle;
    s.send(asker, std::move(request));
  }
  std::vector<std::string> left() {
    s.send(s.join(), wire::StatusRequestT{});
    std::vector<std::string> texts;
    const auto status = nlohmann::json::parse(s.inbox[s.last_session].status.back());
    const auto text = [](const nlohmann::json& one) { return one.is_string() ? one.get<std::string>() : ""; };
    for (const auto& row : status["left"]) texts.push_back(text(row["host"]) + ":" + text(row["name"]));
    return texts;
  }
  std::vector<SessionId> everybody() const { return {a, b, wa, wb}; }

  SessionId asker = 0;
};

TEST_F(SettleTest, WhoAskedIsToldWhenAllAgentsHaveAnswered) {
  asker = s.join();
  s.send(asker, wire::SettleRequestT{});
  answer(a, {"x"});
  EXPECT_THAT(s.inbox[asker].status, IsEmpty());
  answer(b, {"x", "y"}, 3);
  ASSERT_EQ(s.inbox[asker].status.size(), 1u);
  EXPECT_THAT(left(), ElementsAre("na:x", "nb:x", "nb:y", "nb:3 more"));
  EXPECT_THAT(s.inbox[asker].status[0], HasSubstr("rank 1 has not completed it"));
  s.pass(60s, everybody());
  EXPECT_THAT(s.inbox[asker].stops, IsEmpty()) << "the job goes on";
}

TEST_F(SettleTest, AnswersToAnEarlierQuestionDoNotCount) {
  asker = s.join();
  s.send(asker, wire::SettleRequestT{});
  const SessionId other = s.join();
  s.send(other, wire::SettleRequestT{});
  s.send(a, settled(s.inbox[a].settles.front()));
  answer(b);
  EXPECT_THAT(s.inbox[other].status, IsEmpty());
  answer(a);
  EXPECT_EQ(s.inbox[asker].status.size() + s.inbox[other].status.size(), 2u);
}

TEST_F(SettleTest, ARestartWaitsForWhatTheAgentsOfferThen) {
  offer_all("s1", 1);
  work();
  wire::RestartRequestT request;
  request.total = 4;
  request.ranks = {0, 1};
  s.send(a, wire::RestartRequestT(request));
  EXPECT_THAT(s.inbox[a].settles, IsEmpty()) << "other ranks may still write";
  request.ranks = {2, 3};
  s.send(b, wire::RestartRequestT(request));
  offer_all("s2", 2);
  answer(a);
  answer(b);
  EXPECT_EQ(take_task(wa).kind, wire::TaskKind::pack);
  EXPECT_EQ(s.inbox[wb].tasks.front().set, "s2");
}

TEST_F(SettleTest, TheEndIsAfterWhatTheAgentsOffer) {
  stop();
  s.pass(5s, everybody());
  EXPECT_THAT(s.inbox[asker].stops, IsEmpty());
  offer_all("s1", 1);
  answer(a);
  answer(b, {"y"});
  work();
  EXPECT_THAT(left(), ElementsAre("nb:y"));
  s.pass(2s, everybody());
  ASSERT_EQ(s.inbox[asker].stops.size(), 1u);
  EXPECT_TRUE(s.stored.contains("s1"));
}

TEST_F(SettleTest, AtTheEndWhatIsNotCompleteIsGivenUpAtOnce) {
  s.options.agents = 2;
  Stand one(s.options);
  const SessionId agent = one.agent("na"), other = one.agent("nb"), who = one.join();
  one.send(agent, offer_of("s1", {0, 1}, 4, 1));
  one.serve_store();
  wire::StopRequestT request;
  request.drain = request.settle = true;
  one.send(who, std::move(request));
  ASSERT_EQ(one.inbox[agent].news.size(), 1u);
  EXPECT_EQ(one.inbox[agent].news[0].state, wire::SetState::failed);
  EXPECT_THAT(one.inbox[agent].news[0].message, HasSubstr("ranks 2-3 of 4 are missing"));
  one.pass(2s, {agent, other});
  EXPECT_EQ(one.inbox[who].stops.size(), 1u);
}

TEST_F(SettleTest, AtTheEndAgentsThatComeBackAreAskedToo) {
  s.options.agents = 2;
  Stand one(s.options);
  const SessionId agent = one.agent("na"), who = one.join();
  wire::StopRequestT request;
  request.drain = request.settle = true;
  one.send(who, std::move(request));
  one.pass(15s, {agent});
  EXPECT_THAT(one.inbox[who].stops, IsEmpty());
  one.agents_settle = false;
  const SessionId back = one.agent("nb");
  ASSERT_EQ(one.inbox[back].settles.size(), 1u);
  one.pass(15s, {agent, back});
  EXPECT_THAT(one.inbox[who].stops, IsEmpty());
  one.send(back, settled(one.inbox[back].settles.back()));
  one.pass(2s, {agent, back});
  EXPECT_EQ(one.inbox[who].stops.size(), 1u);
}

TEST_F(SettleTest, AgentsThatDoNotComeOrDoNotAnswerAreNamed) {
  s.options.agents = 3;
  s.options.set_timeout = 60s;
  Stand one(s.options);
  one.agents_settle = false;
  const SessionId agent = one.agent("na"), silent = one.agent("nb"), who = one.join();
  one.send(who, wire::SettleRequestT{});
  one.send(agent, settled(one.inbox[agent].settles.back()));
  one.pass(59s, {agent, silent});
  EXPECT_THAT(one.inbox[who].status, IsEmpty());
  one.pass(2s, {agent, silent});
  ASSERT_EQ(one.inbox[who].status.size(), 1u);
  EXPECT_THAT(one.inbox[who].status[0], AllOf(HasSubstr("1 of 3 agents are not there"), HasSubstr("\"host\":\"nb\"")));
}

// Whoever starts the next daemons must not meet one that ends.
TEST_F(SettleTest, TheCoordinatorIsLeftAloneWhenAllButAskersHaveGone) {
  Stand one(s.options);
  const SessionId agent = one.agent("na"), worker = one.worker("nb"), who = one.join();
  one.send(who, wire::StopRequestT{});
  EXPECT_EQ(one.inbox[agent].stops.size(), 1u);
  EXPECT_FALSE(one.coordinator.is_left_alone());
  one.leave(agent);
  EXPECT_FALSE(one.coordinator.is_left_alone());
  one.leave(worker);
  EXPECT_TRUE(one.coordinator.is_left_alone());
}

TEST_F(SettleTest, WithoutAskingItIsAsBefore) {
  stop(false);
  s.pass(2s, everybody());
  EXPECT_EQ(s.inbox[asker].stops.size(), 1u);
  EXPECT_THAT(s.inbox[a].settles, IsEmpty());
}

}  // namespace
}  // namespace forebay::job
