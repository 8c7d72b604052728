#include "job/agent/clients.h"

#include <gmock/gmock.h>

#include "job/test_job.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class ClientsTest : public testing::Test {
 protected:
  void ask(Clients::Id id, const std::string& set, int64_t timeout_ms) {
    check(clients.may_ask(id));
    clients.wait(id,
                 {.kind = Question::Kind::wait, .set = set, .step = {}, .deadline = deadline_after(timeout_ms, now)});
  }
  std::vector<Clients::Id> expired() {
    std::vector<Clients::Id> ids;
    for (const auto& [id, question] : clients.expired(now)) ids.push_back(id);
    return ids;
  }

  Clients::Time now{100h};
  Clients clients;
};

TEST_F(ClientsTest, KnowsTheRanksOfTheLatestStart) {
  EXPECT_FALSE(value(clients.joined(1, {.rank = 0, .ranks = 3, .pid = 100})));
  EXPECT_FALSE(value(clients.joined(2, {.rank = 1, .ranks = 3, .pid = 101})));
  clients.left(2);
  EXPECT_FALSE(value(clients.joined(3, {.rank = 1, .ranks = 3, .pid = 101}))) << "the same process";
  EXPECT_TRUE(clients.is_connected(1, 101));
  clients.left(3);
  EXPECT_FALSE(clients.is_connected(1, 101));
  EXPECT_TRUE(value(clients.joined(4, {.rank = 0, .ranks = 3, .pid = 200}))) << "the application was started again";
  EXPECT_FALSE(clients.is_connected(0, 100)) << "though its end was not noticed yet";
  EXPECT_EQ(clients.ranks(), std::set<uint32_t>{0}) << "rank 1 may be on another node now";
  EXPECT_FALSE(value(clients.joined(5, {.rank = 1, .ranks = 3, .pid = 201}))) << "it is the same start";
}

TEST_F(ClientsTest, TellsStartsByTheirAttemptsWhereRanksChangePlaces) {
  EXPECT_FALSE(value(clients.joined(1, {.rank = 2, .ranks = 3, .pid = 100, .attempt = 1})));
  EXPECT_TRUE(value(clients.joined(2, {.rank = 1, .ranks = 3, .pid = 200, .attempt = 2})));
  EXPECT_EQ(clients.ranks(), std::set<uint32_t>{1});
  EXPECT_FALSE(clients.is_connected(2, 100));
  EXPECT_FALSE(value(clients.joined(3, {.rank = 2, .ranks = 3, .pid = 101, .attempt = 1}))) << "it came late";
  EXPECT_EQ(clients.ranks(), std::set<uint32_t>{1});
  EXPECT_FALSE(value(clients.joined(4, {.rank = 0, .ranks = 3, .pid = 300}))) << "of any start";
  EXPECT_EQ(clients.ranks(), (std::set<uint32_t>{0, 1}));
}

TEST_F(ClientsTest, KnowsWhoIsThere) {
  value(clients.joined(1, {.rank = 2, .ranks = 3, .pid = 7}));
  ASSERT_NE(clients.find(1), nullptr);
  EXPECT_EQ(clients.find(1)->rank, 2u);
  EXPECT_EQ(error(clients.joined(2, {.rank = 3, .ranks = 3})).kind, ErrorKind::corrupt);
  EXPECT_EQ(clients.find(2), nullptr);
  EXPECT_EQ(clients.left(1)->pid, 7u);
  EXPECT_FALSE(clients.left(1));
}

TEST_F(ClientsTest, AsksOneQuestionAtATime) {
  ask(1, "s", -1);
  EXPECT_EQ(error(clients.may_ask(1)).kind, ErrorKind::corrupt);
  check(clients.may_ask(2));
  clients.left(1);
  check(clients.may_ask(1));
}

TEST_F(ClientsTest, QuestionsEndWithTheirTime) {
  ask(1, "s", -1);
  ask(2, "s", 100);
  ask(3, "s", 50);
  EXPECT_EQ(clients.next_deadline(), now + 50ms);
  now += 50ms - 1ns;
  EXPECT_THAT(expired(), IsEmpty());
  now += 1ns;
  EXPECT_THAT(expired(), ElementsAre(3));
  now += 1h;
  EXPECT_THAT(expired(), ElementsAre(2));
  EXPECT_EQ(clients.next_deadline(), Clients::Time::max());
  EXPECT_TRUE(clients.questions().contains(1));
}

TEST_F(ClientsTest, EachIsTriedAndOnlyWhatIsAnsweredGoes) {
  for (const Clients::Id id : {1, 2, 3}) ask(id, id == 2 ? "t" : "s", -1);
  std::vector<Clients::Id> tried;
  clients.settle_each([&](Clients::Id id, const Question& question) {
    tried.push_back(id);
    return question.set == "s";
  });
  EXPECT_THAT(tried, ElementsAre(1, 2, 3));
  EXPECT_EQ(clients.questions().size(), 1u);
  EXPECT_TRUE(clients.questions().contains(2));
}

TEST(DeadlineAfter, IsNeverForWhatIsNegativeOrTooLong) {
  const Clients::Time now{100h};
  EXPECT_EQ(deadline_after(0, now), now);
  EXPECT_EQ(deadline_after(-1, now), Clients::Time::max());
  EXPECT_EQ(deadline_after(INT64_MAX, now), Clients::Time::max());
}

}  // namespace
}  // namespace forebay::job
