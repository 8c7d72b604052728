#include "lock/service.h"

#include <algorithm>

#include <gmock/gmock.h>

namespace forebay::lock {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Ending = Service::Ending;

Region bytes(uint64_t first, uint64_t length) {
  Region region;
  EXPECT_TRUE(region.add(first, length));
  return region;
}

// Clients by number, in a time that the test tells.
class ServiceTest : public testing::Test {
 protected:
  explicit ServiceTest(ServiceOptions options = {}) : service_(options, now_) {}

  void join(SessionId client) {
    service_.connected(client, "peer", now_);
    say(client, wire::Hello{"label", "host", client});
    say(client, wire::File{0, "f"});
    sent_.clear();
  }

  Result<void> say(SessionId client, wire::ClientMessage message) {
    return service_.receive(client, {std::move(message)}, now_, sent_);
  }

  Result<void> lock(SessionId client, uint64_t request, Region region, Access access = Access::exclusive,
                    bool only_try = false) {
    return say(client, wire::LockRequest{request, 0, access, only_try, std::move(region)});
  }

  void leave(SessionId client, Ending ending) { service_.disconnected(client, ending, now_, sent_); }

  void pass(std::chrono::milliseconds time) {
    now_ += time;
    service_.tick(now_, sent_);
  }

  // "1:granted 5" and so on, since the last call.
  std::vector<std::string> sent() {
    std::vector<std::string> list;
    for (const Outgoing& one : std::exchange(sent_, {})) {
      std::string text = std::to_string(one.session) + ":";
      if (const auto* granted = std::get_if<wire::Granted>(&one.message))
        text += "granted " + std::to_string(granted->request);
      else if (const auto* refused = std::get_if<wire::Refused>(&one.message))
        text += "refused " + std::to_string(static_cast<int>(refused->reason));
      else if (const auto* value = std::get_if<wire::Value>(&one.message))
        text += "value " + std::to_string(value->value);
      else if (std::holds_alternative<wire::Renewed>(one.message))
        text += "renewed";
      else if (std::holds_alternative<wire::Expired>(one.message))
        text += "expired";
      list.push_back(text);
    }
    return list;
  }

  wire::Status status(SessionId client) {
    sent_.clear();
    EXPECT_TRUE(say(client, wire::Query{1}));
    wire::Status all;
    for (Outgoing& one : std::exchange(sent_, {})) {
      auto& part = std::get<wire::Status>(one.message);
      all.last = part.last;
      all.truncated = part.truncated;
      std::ranges::move(part.clients, std::back_inserter(all.clients));
      std::ranges::move(part.requests, std::back_inserter(all.requests));
      std::ranges::move(part.counters, std::back_inserter(all.counters));
    }
    return all;
  }

  Service::Time now_{1h};
  Service service_;
  std::vector<Outgoing> sent_;
};

class SmallMemory : public ServiceTest {
 protected:
  SmallMemory() : ServiceTest(ServiceOptions{.max_client_memory = 10'000}) {}
};

TEST_F(SmallMemory, ForgetsCountersOfOneClientAfterTheOther) {
  join(1);
  for (uint64_t i = 0; i < 1000; ++i) {
    const std::string name = "counter " + std::to_string(i);
    EXPECT_TRUE(say(1, wire::Counter{2 * i, wire::CounterAction::fetch_add, 1, name}));
    EXPECT_TRUE(say(1, wire::Counter{2 * i + 1, wire::CounterAction::forget, 0, name}));
    ASSERT_THAT(sent(), ElementsAre("1:value 0", "1:value 1"));
  }
}

TEST_F(ServiceTest, GrantsAndQueues) {
  join(1);
  join(2);
  EXPECT_TRUE(lock(1, 10, bytes(0, 10)));
  EXPECT_TRUE(lock(2, 20, bytes(5, 10)));
  EXPECT_TRUE(lock(2, 21, bytes(100, 1)));
  EXPECT_THAT(sent(), ElementsAre("1:granted 10", "2:granted 21"));
  EXPECT_TRUE(say(1, wire::Release{10}));
  EXPECT_THAT(sent(), ElementsAre("2:granted 20"));
}

TEST_F(ServiceTest, RefusesTriesThatWouldWait) {
  join(1);
  join(2);
  EXPECT_TRUE(lock(1, 1, bytes(0, 10), Access::shared));
  EXPECT_TRUE(lock(2, 1, bytes(0, 10), Access::exclusive, true));
  EXPECT_TRUE(lock(2, 1, bytes(0, 10), Access::shared, true));
  EXPECT_THAT(sent(), ElementsAre("1:granted 1", "2:refused 0", "2:granted 1"));
}

TEST_F(ServiceTest, WithdrawsAndIgnoresWhatItDoesNotKnow) {
  join(1);
  join(2);
  join(3);
  EXPECT_TRUE(lock(1, 1, bytes(0, 10)));
  EXPECT_TRUE(lock(2, 1, bytes(0, 10)));
  EXPECT_TRUE(lock(3, 1, bytes(0, 10)));
  EXPECT_TRUE(say(2, wire::Release{1}));
  EXPECT_TRUE(say(2, wire::Release{99}));
  sent();
  EXPECT_TRUE(say(1, wire::Release{1}));
  EXPECT_THAT(sent(), ElementsAre("3:granted 1"));
}

TEST_F(ServiceTest, GivesBytesBackAtOnceAfterAnOrderlyEnd) {
  join(1);
  join(2);
  EXPECT_TRUE(lock(1, 1, bytes(0, 10)));
  EXPECT_TRUE(lock(1, 2, bytes(20, 10)));
  EXPECT_TRUE(lock(2, 1, bytes(0, 30)));
  sent();
  leave(1, Ending::orderly);
  EXPECT_THAT(sent(), ElementsAre("2:granted 1"));
}

TEST_F(ServiceTest, WaitsForLeaseAndGraceAfterABrokenConnection) {
  join(1);
  join(2);
  EXPECT_TRUE(lock(1, 1, bytes(0, 10)));
  EXPECT_TRUE(lock(2, 1, bytes(0, 10)));
  pass(1s);
  leave(1, Ending::broken);
  sent();
  pass(10999ms);
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_TRUE(say(2, wire::Renew{1}));
  sent();
  pass(1ms);
  EXPECT_THAT(sent(), ElementsAre("2:granted 1"));
}

TEST_F(ServiceTest, EndsWhoIsSilentAndTellsHim) {
  join(1);
  join(2);
  EXPECT_TRUE(lock(1, 1, bytes(0, 10)));
  pass(6s);
  EXPECT_TRUE(lock(2, 1, bytes(0, 10)));
  sent();
  EXPECT_EQ(service_.next_tick(), Service::Time(1h) + 12s);
  pass(6s);
  EXPECT_THAT(sent(), ElementsAre("2:granted 1", "1:expired"));
  // He comes back: nothing of his has any effect.
  EXPECT_TRUE(say(1, wire::Renew{1}));
  EXPECT_TRUE(lock(1, 2, bytes(500, 10)));
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_TRUE(say(2, wire::Release{1}));
  join(3);
  EXPECT_TRUE(lock(3, 1, bytes(0, 1000)));
  EXPECT_THAT(sent(), ElementsAre("3:granted 1"));
}

TEST_F(ServiceTest, LetsAnyMessageRenew) {
  join(1);
  EXPECT_TRUE(lock(1, 1, bytes(0, 10)));
  for (int i = 0; i < 10; ++i) {
    pass(11s);
    EXPECT_TRUE(say(1, wire::Release{1000}));
  }
  EXPECT_THAT(sent(), ElementsAre("1:granted 1"));
}

TEST_F(ServiceTest, LeavesTheIdleInPeace) {
  join(1);
  pass(1h);
  EXPECT_TRUE(lock(1, 1, bytes(0, 10)));
  EXPECT_THAT(sent(), ElementsAre("1:granted 1"));
}

TEST_F(ServiceTest, DoesNotGrantToSomebodyWhoEndsInTheSameMoment) {
  join(1);
  join(2);
  join(3);
  EXPECT_TRUE(lock(1, 1, bytes(0, 10)));
  EXPECT_TRUE(lock(2, 1, bytes(0, 10)));
  pass(5s);
  EXPECT_TRUE(lock(3, 1, bytes(0, 10)));
  sent();
  pass(7s);
  EXPECT_THAT(sent(), testing::UnorderedElementsAre("3:granted 1", "1:expired", "2:expired"));
}

TEST_F(ServiceTest, HoldsClientsToTheProtocol) {
  service_.connected(1, "peer", now_);
  EXPECT_EQ(say(1, wire::Renew{1}).error().kind, ErrorKind::corrupt);
  EXPECT_TRUE(say(1, wire::Hello{}));
  EXPECT_EQ(say(1, wire::Hello{}).error().kind, ErrorKind::corrupt);
  sent_.clear();
  EXPECT_TRUE(lock(1, 1, bytes(0, 10)));
  EXPECT_THAT(sent(), ElementsAre("1:refused 3")) << "no such file";
  EXPECT_TRUE(say(1, wire::File{0, "f"}));
  EXPECT_TRUE(lock(1, 1, bytes(0, 10)));
  EXPECT_TRUE(lock(1, 1, bytes(50, 10)));
  EXPECT_THAT(sent(), ElementsAre("1:granted 1", "1:refused 4")) << "the number is in use";
}

TEST_F(ServiceTest, KeepsRequestsOfAFileWhoseNumberIsGivenAnew) {
  join(1);
  join(2);
  EXPECT_TRUE(lock(1, 1, bytes(0, 10)));
  EXPECT_TRUE(say(1, wire::File{0, "g"}));
  EXPECT_TRUE(lock(1, 2, bytes(0, 10)));
  EXPECT_TRUE(lock(2, 1, bytes(0, 10)));
  EXPECT_THAT(sent(), ElementsAre("1:granted 1", "1:granted 2"));
  EXPECT_TRUE(say(1, wire::Release{1}));
  EXPECT_THAT(sent(), ElementsAre("2:granted 1"));
}

TEST_F(ServiceTest, WithdrawsAtOnceWhatABrokenClientWaitsFor) {
  for (SessionId client = 1; client <= 3; ++client) join(client);
  EXPECT_TRUE(lock(1, 1, bytes(0, 10)));
  EXPECT_TRUE(lock(2, 1, bytes(0, 20)));
  EXPECT_TRUE(lock(2, 2, bytes(100, 10)));
  EXPECT_TRUE(lock(3, 1, bytes(15, 10)));
  EXPECT_TRUE(lock(3, 2, bytes(100, 10)));
  EXPECT_THAT(sent(), ElementsAre("1:granted 1", "2:granted 2"));
  leave(2, Ending::broken);
  EXPECT_THAT(sent(), ElementsAre("3:granted 1"));
  pass(11s);
  EXPECT_TRUE(say(3, wire::Renew{9}));
  sent_.clear();
  pass(2s);
  EXPECT_THAT(sent(), UnorderedElementsAre("1:expired", "3:granted 2"));
}

class LifeLine : public ServiceTest {
 protected:
  // Client 1 holds what client 2 waits for, and has its life line as session 11.
  LifeLine() {
    join(1);
    join(2);
    service_.connected(11, "peer", now_);
    EXPECT_TRUE(say(11, wire::Life{1}));
    EXPECT_TRUE(lock(1, 1, bytes(0, 10)));
    EXPECT_TRUE(lock(2, 1, bytes(0, 10)));
    EXPECT_THAT(sent(), ElementsAre("1:granted 1"));
  }
};

TEST_F(LifeLine, TellsThatAClientIsGoneWhoseConnectionWasReset) {
  leave(1, Ending::broken);
  EXPECT_THAT(sent(), IsEmpty());
  leave(11, Ending::orderly);
  EXPECT_THAT(sent(), ElementsAre("2:granted 1"));
}

TEST_F(LifeLine, MayBeHeardOfFirst) {
  leave(11, Ending::orderly);
  EXPECT_THAT(sent(), ElementsAre("2:granted 1"));
  EXPECT_TRUE(lock(1, 2, bytes(20, 10)));
  leave(1, Ending::broken);
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_EQ(status(2).clients.size(), 1u);
}

TEST_F(LifeLine, SaysNothingWhenItBreaks) {
  leave(11, Ending::broken);
  leave(1, Ending::broken);
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_EQ(status(2).clients.size(), 2u);
}

TEST_F(LifeLine, IsNothingElse) {
  EXPECT_FALSE(say(11, wire::Hello{"label", "host", 1}));
  EXPECT_FALSE(say(2, wire::Life{1}));
  service_.connected(12, "peer", now_);
  EXPECT_TRUE(say(12, wire::Life{99}));
  leave(12, Ending::orderly);
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(ServiceTest, Counts) {
  using enum wire::CounterAction;
  join(1);
  join(2);
  EXPECT_TRUE(say(1, wire::Counter{1, fetch_add, 5, "c"}));
  EXPECT_TRUE(say(2, wire::Counter{1, fetch_add, 1, "c"}));
  EXPECT_TRUE(say(2, wire::Counter{1, fetch_add, INT64_MAX - 6, "c"}));
  EXPECT_TRUE(say(1, wire::Counter{1, fetch_add, 1, "c"}));
  EXPECT_TRUE(say(1, wire::Counter{1, fetch_add, 0, "c"}));
  EXPECT_THAT(sent(), ElementsAre("1:value 0", "2:value 5", "2:value 6", "1:value " + std::to_string(INT64_MAX),
                                  "1:value " + std::to_string(INT64_MIN)));
  EXPECT_TRUE(say(1, wire::Counter{1, forget, 0, "c"}));
  EXPECT_TRUE(say(2, wire::Counter{1, fetch_add, 1, "c"}));
  leave(1, Ending::orderly);
  EXPECT_TRUE(say(2, wire::Counter{1, fetch_add, 1, "c"}));
  EXPECT_THAT(sent(), ElementsAre("1:value " + std::to_string(INT64_MIN), "2:value 0", "2:value 1"));
  leave(2, Ending::orderly);
  join(3);
  EXPECT_TRUE(say(3, wire::Counter{1, fetch_add, 1, "c"}));
  EXPECT_THAT(sent(), ElementsAre("3:value 0"));
}

TEST_F(ServiceTest, TellsWhoHoldsAndWhoWaits) {
  join(1);
  join(2);
  EXPECT_TRUE(lock(1, 1, bytes(0, 10)));
  pass(2s);
  EXPECT_TRUE(lock(2, 1, bytes(5, 10), Access::shared));
  EXPECT_TRUE(say(2, wire::Counter{1, wire::CounterAction::fetch_add, 7, "c"}));
  const wire::Status all = status(2);
  ASSERT_EQ(all.clients.size(), 2u);
  ASSERT_EQ(all.requests.size(), 2u);
  EXPECT_TRUE(all.last);
  EXPECT_FALSE(all.truncated);
  EXPECT_EQ(all.requests[0].file, "f");
  EXPECT_EQ(all.requests[0].age_ms, 2000u);
  EXPECT_TRUE(all.requests[0].granted);
  EXPECT_FALSE(all.requests[1].granted);
  EXPECT_EQ(all.requests[1].waits_for, all.requests[0].ticket);
  EXPECT_EQ(all.requests[1].session, 2u);
  EXPECT_EQ(all.requests[1].bounds, (Extent{5, 15}));
  EXPECT_THAT(all.counters, ElementsAre(wire::StatusCounter{"c", 7}));
}

TEST_F(ServiceTest, TellsOfManyInSeveralMessages) {
  join(1);
  for (uint64_t i = 0; i < 1500; ++i) ASSERT_TRUE(lock(1, i, bytes(i * 10, 5)));
  EXPECT_EQ(status(1).requests.size(), 1500u);
}

class LimitedService : public ServiceTest {
 protected:
  LimitedService() : ServiceTest({.max_client_memory = 10'000}) {}
};

TEST_F(LimitedService, RefusesWhatNeedsTooMuchMemoryOfOneClient) {
  join(1);
  join(2);
  uint64_t granted = 0;
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(lock(1, i, bytes(i * 10, 5)));
  const auto answers = sent();
  for (const std::string& one : answers) granted += one.starts_with("1:granted");
  EXPECT_GT(granted, 5u);
  EXPECT_LT(granted, 50u);
  EXPECT_EQ(answers.back(), "1:refused 2");
  EXPECT_TRUE(lock(2, 1, bytes(100'000, 5)));
  EXPECT_THAT(sent(), ElementsAre("2:granted 1"));
  EXPECT_TRUE(say(1, wire::Release{0}));
  EXPECT_TRUE(lock(1, 5000, bytes(200'000, 5)));
  EXPECT_THAT(sent(), ElementsAre("1:granted 5000"));
  for (int i = 0; i < 1000; ++i)
    ASSERT_TRUE(say(1, wire::Counter{1, wire::CounterAction::fetch_add, 1, "counter " + std::to_string(i)}));
  EXPECT_EQ(sent().back(), "1:refused 2");
}

class RestartedService : public ServiceTest {
 protected:
  RestartedService() : ServiceTest({.hold_off = 12s}) {}
};

TEST_F(RestartedService, GrantsNothingBeforeTheClientsOfTheOneBeforeMustHaveStopped) {
  join(1);
  join(2);
  EXPECT_TRUE(lock(1, 1, bytes(0, 10)));
  EXPECT_TRUE(lock(2, 1, bytes(0, 10)));
  EXPECT_TRUE(lock(2, 2, bytes(20, 10)));
  EXPECT_TRUE(lock(2, 3, bytes(50, 10), Access::shared, true));
  EXPECT_THAT(sent(), ElementsAre("2:refused 0"));
  EXPECT_TRUE(say(1, wire::Release{1}));
  pass(11s);
  EXPECT_TRUE(say(2, wire::Renew{1}));
  EXPECT_THAT(sent(), ElementsAre("2:renewed"));
  pass(1s);
  EXPECT_THAT(sent(), testing::UnorderedElementsAre("2:granted 1", "2:granted 2"));
}

}  // namespace
}  // namespace forebay::lock
