// When a service lends files, and how it gets them back.
#include <gmock/gmock.h>

#include "lock/service.h"
#include "lock/solitude.h"

namespace forebay::lock {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr SessionId kBells = 1000;  // the bell of session n is n + 1000

Region asked_bytes(uint64_t first, uint64_t length) {
  Region region;
  EXPECT_TRUE(region.add(first, length));
  return region;
}

class LendingService : public testing::Test {
 protected:
  explicit LendingService(const ServiceOptions& options = {}) : service_(options, now_) {}

  void join(SessionId client, bool bell = true) {
    service_.connected(client, "peer", now_);
    say(client, wire::Hello{"label", "host", client});
    say(client, wire::File{0, "f"});
    if (bell) {
      service_.connected(client + kBells, "peer", now_);
      say(client + kBells, wire::Bell{client});
    }
    sent_.clear();
  }

  void say(SessionId client, wire::ClientMessage message) {
    EXPECT_TRUE(service_.receive(client, {std::move(message)}, now_, sent_));
  }

  void lock(SessionId client, uint64_t request, uint64_t first, uint64_t length, bool only_try = false) {
    say(client, wire::LockRequest{request, 0, Access::exclusive, only_try, asked_bytes(first, length), true});
  }

  void lock_ahead(SessionId client, uint64_t request, uint64_t first, uint64_t length, Ahead ahead) {
    say(client, wire::LockRequest{request, 0, Access::exclusive, false, asked_bytes(first, length), true, ahead});
  }

  void give_back(SessionId client, uint64_t loan, std::vector<wire::Return::Part> parts = {}) {
    say(client, wire::Return{loan, std::move(parts)});
  }

  static wire::Return::Part part(uint64_t request, bool held, uint64_t first, uint64_t length) {
    return {request, Access::exclusive, held, asked_bytes(first, length)};
  }

  void pass(std::chrono::milliseconds time) {
    now_ += time;
    service_.tick(now_, sent_);
  }

  std::vector<std::string> sent() {
    std::vector<std::string> list;
    for (const Outgoing& one : std::exchange(sent_, {})) {
      std::string text = std::to_string(one.session);
      if (const auto* granted = std::get_if<wire::Granted>(&one.message))
        text += " granted " + std::to_string(granted->request);
      else if (const auto* lent = std::get_if<wire::Lent>(&one.message))
        text += " lent " + std::to_string(lent->request) + (lent->count ? " of " + std::to_string(lent->count) : "");
      else if (const auto* recall = std::get_if<wire::Recall>(&one.message))
        text += " recall " + std::to_string(recall->loan) +
                (recall->wanted.empty()
                     ? ""
                     : " " + std::to_string(recall->wanted.from) + "-" + std::to_string(recall->wanted.to));
      else if (const auto* taken = std::get_if<wire::Taken>(&one.message))
        text += " taken " + std::to_string(taken->loan);
      else if (const auto* refused = std::get_if<wire::Refused>(&one.message))
        text += " refused " + std::to_string(refused->request) + " " + std::to_string(int(refused->reason));
      else if (const auto* value = std::get_if<wire::Value>(&one.message))
        text += " value " + std::to_string(value->value);
      else if (std::holds_alternative<wire::Expired>(one.message))
        text += " expired";
      else
        text += " else";
      list.push_back(text);
    }
    return list;
  }

  // From now on the file is not lent as a whole.
  void crowd() {
    for (const SessionId client : {1, 2}) join(client);
    lock(1, 1, 0, 10);
    lock(2, 1, 100, 10);
    give_back(1, 1);
    sent();
  }

  // What is asked ahead of one request, and the answer.
  void ask_ahead(uint64_t request, Region region, Ahead ahead) {
    say(1, wire::LockRequest{request, 0, Access::exclusive, false, std::move(region), true, ahead});
  }

  Service::Time now_{1h};
  Service service_;
  std::vector<Outgoing> sent_;
};

TEST_F(LendingService, LendsToWhoComesAlone) {
  join(1);
  lock(1, 10, 0, 10);
  EXPECT_THAT(sent(), ElementsAre("1 lent 10"));
  give_back(1, 10);
  lock(1, 11, 0, 10);
  EXPECT_THAT(sent(), ElementsAre("1 lent 11"));
}

TEST_F(LendingService, LendsNothingWithoutABellOrUnlessAsked) {
  join(1, false);
  lock(1, 10, 0, 10);
  EXPECT_THAT(sent(), ElementsAre("1 granted 10"));
  join(2);
  say(2, wire::File{1, "g"});
  say(2, wire::LockRequest{1, 1, Access::shared, false, asked_bytes(0, 1)});
  EXPECT_THAT(sent(), ElementsAre("2 granted 1"));
}

TEST_F(LendingService, RecallsOnceAndGrantsWhatIsFree) {
  join(1);
  join(2);
  lock(1, 10, 0, 10);
  sent();
  lock(2, 20, 50, 10);
  EXPECT_THAT(sent(), ElementsAre("1001 recall 10", "1 recall 10"));
  lock(2, 21, 5, 10);
  EXPECT_THAT(sent(), IsEmpty());
  give_back(1, 10, {part(10, true, 0, 10)});
  EXPECT_THAT(sent(), ElementsAre("2 granted 20"));
  say(1, wire::Release{10});
  EXPECT_THAT(sent(), ElementsAre("2 granted 21"));
}

TEST_F(LendingService, PutsWhatIsReturnedBeforeThoseWhoCameLater) {
  join(1);
  join(2);
  lock(1, 10, 0, 10);
  lock(2, 20, 5, 100);
  lock(1, 11, 200, 10);  // it was sent before the loan came
  sent();
  give_back(1, 10, {part(10, true, 0, 10), part(12, false, 0, 20), part(13, false, 40, 2), part(14, false, 41, 3)});
  EXPECT_THAT(sent(), ElementsAre("1 granted 13", "1 granted 11"));
  say(1, wire::Release{10});
  EXPECT_THAT(sent(), ElementsAre("1 granted 12"));
  say(1, wire::Release{13});
  EXPECT_THAT(sent(), ElementsAre("1 granted 14"));
  say(1, wire::Release{12});
  EXPECT_THAT(sent(), IsEmpty());
  say(1, wire::Release{14});
  EXPECT_THAT(sent(), ElementsAre("2 granted 20"));
}

TEST_F(LendingService, DecidesTriesWhenTheLoanIsReturned) {
  join(1);
  join(2);
  lock(1, 10, 0, 10);
  lock(2, 20, 5, 10, true);
  lock(2, 21, 50, 10, true);
  sent();
  give_back(1, 10, {part(10, true, 0, 10)});
  EXPECT_THAT(sent(), ElementsAre("2 granted 21", "2 refused 20 0"));
  say(1, wire::Release{10});
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(LendingService, GivesALoanAwayWhenItsSessionEnds) {
  join(1);
  join(2);
  lock(1, 10, 0, 10);
  lock(2, 20, 5, 10);
  lock(2, 21, 5, 10, true);
  sent();
  service_.disconnected(1, Service::Ending::orderly, now_, sent_);
  EXPECT_THAT(sent(), ElementsAre("2 granted 20", "2 refused 21 0"));
}

TEST_F(LendingService, GivesALoanAwayThatIsGivenUp) {
  join(1);
  join(2);
  lock(1, 10, 0, 10);
  lock(2, 20, 5, 10);
  sent();
  say(1, wire::Release{10});  // its deadline passed before the answer came
  EXPECT_THAT(sent(), ElementsAre("2 granted 20"));
  give_back(1, 10, {part(11, false, 0, 10)});
  EXPECT_THAT(sent(), ElementsAre("1 refused 11 5"));
}

TEST_F(LendingService, TakesTheLoansOfASilentClientAndLeavesItsCounters) {
  join(1);
  join(2);
  lock(1, 10, 0, 10);
  say(1, wire::Counter{11, wire::CounterAction::fetch_add, 5, "c"});
  lock(2, 20, 5, 10);
  sent();
  pass(11s);
  say(2, wire::Renew{1});
  sent();
  pass(1s);
  EXPECT_THAT(sent(), ElementsAre("1 taken 10", "2 granted 20"));
  say(1, wire::Counter{12, wire::CounterAction::fetch_add, 1, "c"});
  EXPECT_THAT(sent(), ElementsAre("1 value 5"));
  give_back(1, 10, {part(10, true, 0, 10), part(13, false, 0, 10)});
  EXPECT_THAT(sent(), ElementsAre("1 refused 13 5"));
}

TEST_F(LendingService, EndsASilentClientThatHoldsMoreThanLoans) {
  join(1);
  join(2);
  lock(1, 10, 0, 10);
  lock(2, 20, 50, 10);
  give_back(1, 10, {part(10, true, 0, 10)});
  say(1, wire::File{1, "g"});
  say(1, wire::LockRequest{11, 1, Access::shared, false, asked_bytes(0, 1), true});
  sent();
  pass(12s);
  EXPECT_THAT(sent(), testing::UnorderedElementsAre("1 expired", "2 expired"));
}

TEST_F(LendingService, RecallsOnTheConnectionWhereThereIsNoBellAnyMore) {
  join(1);
  join(2);
  lock(1, 10, 0, 10);
  service_.disconnected(1001, Service::Ending::broken, now_, sent_);
  sent();
  lock(2, 20, 5, 10);
  EXPECT_THAT(sent(), ElementsAre("1 recall 10"));
  give_back(1, 10);
  lock(1, 11, 100, 10);
  EXPECT_THAT(sent(), ElementsAre("2 granted 20", "1 granted 11"));
}

TEST_F(LendingService, LendsNothingWhileItHoldsOff) {
  Service restarted({.hold_off = 12s}, now_);
  const auto tell = [&](SessionId session, wire::ClientMessage message) {
    EXPECT_TRUE(restarted.receive(session, {std::move(message)}, now_, sent_));
  };
  restarted.connected(1, "peer", now_);
  restarted.connected(1001, "peer", now_);
  tell(1, wire::Hello{});
  tell(1, wire::File{0, "f"});
  tell(1001, wire::Bell{1});
  sent();
  tell(1, wire::LockRequest{10, 0, Access::exclusive, false, asked_bytes(0, 1), true});
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(LendingService, RefusesBellsOfNobodyAndReturnsThatNameWhatIsInUse) {
  join(1);
  service_.connected(5, "peer", now_);
  EXPECT_FALSE(service_.receive(5, {wire::Bell{99}}, now_, sent_));
  service_.connected(6, "peer", now_);
  EXPECT_FALSE(service_.receive(6, {wire::Bell{1}}, now_, sent_)) << "it has one";
  EXPECT_FALSE(service_.receive(1001, {wire::Renew{1}}, now_, sent_)) << "nothing comes from a bell";
  lock(1, 10, 0, 10);
  EXPECT_FALSE(service_.receive(1, {wire::Return{10, {part(11, true, 0, 1), part(11, true, 5, 1)}}}, now_, sent_));
}

TEST_F(LendingService, LendsAgainWhenOneHasWorkedAloneForAWhile) {
  join(1);
  join(2);
  lock(1, 10, 0, 10);
  lock(2, 20, 5, 10);
  give_back(1, 10);
  say(2, wire::Release{20});
  sent();
  for (uint64_t i = 0; i < Solitude::kFirst; ++i) {
    lock(1, 100 + i, 0, 1);
    say(1, wire::Release{100 + i});
    ASSERT_THAT(sent(), ElementsAre("1 granted " + std::to_string(100 + i)));
  }
  lock(1, 500, 0, 1);
  EXPECT_THAT(sent(), ElementsAre("1 lent 500"));
}

TEST_F(LendingService, LendsOfWhatIsAskedAheadAsMuchAsIsFree) {
  for (const SessionId client : {1, 2}) join(client);
  lock(1, 1, 0, 10);
  lock(2, 1, 100, 10);
  give_back(1, 1, {part(1, true, 0, 10)});
  sent();
  lock_ahead(1, 2, 1000, 10, {100, 8});
  EXPECT_THAT(sent(), ElementsAre("1 lent 2 of 9"));
  lock_ahead(2, 2, 600, 10, {100, 8});
  EXPECT_THAT(sent(), ElementsAre("2 lent 2 of 3")) << "a quarter of it";
  lock_ahead(2, 3, 1900, 10, {100, 8});
  EXPECT_THAT(sent(), ElementsAre("2 lent 3 of 9"));
}

TEST_F(LendingService, RecallsOfAProgressionOnlyWhatSomebodyWants) {
  for (const SessionId client : {1, 2}) join(client);
  lock(1, 1, 0, 10);
  lock(2, 1, 100, 10);
  give_back(1, 1);
  sent();
  lock_ahead(1, 2, 1000, 10, {100, 8});
  sent();
  lock(2, 5, 1400, 120);
  EXPECT_THAT(sent(), ElementsAre("1001 recall 2 4-6", "1 recall 2 4-6"));
  lock(2, 6, 1700, 10);
  EXPECT_THAT(sent(), ElementsAre("1001 recall 2 4-8", "1 recall 2 4-8")) << "what came later";
  // The first recall is answered before the second has come.
  say(1, wire::Return{2, {part(2, true, 1000, 10)}, {{50, {1, 4}}, {51, {6, 9}}}});
  EXPECT_THAT(sent(), ElementsAre("2 granted 5", "1001 recall 51 1-2", "1 recall 51 1-2"));
  say(1, wire::Return{51, {}, {{52, {0, 1}}, {53, {2, 3}}}});
  EXPECT_THAT(sent(), ElementsAre("2 granted 6"));
  lock(2, 7, 1800, 10, true);
  EXPECT_THAT(sent(), ElementsAre("1001 recall 53 0-1", "1 recall 53 0-1"));
  give_back(1, 53, {part(60, true, 1800, 10)});
  EXPECT_THAT(sent(), ElementsAre("2 refused 7 0"));
  lock(2, 8, 1600, 10, true);
  sent();
  give_back(1, 52);
  EXPECT_THAT(sent(), ElementsAre("2 granted 8"));
  give_back(2, 99, {part(61, false, 0, 1)});
  EXPECT_THAT(sent(), ElementsAre("2 refused 61 5"));
}

TEST_F(LendingService, RefusesReturnsOfWhatWasNotLent) {
  for (const SessionId client : {1, 2}) join(client);
  lock(1, 1, 0, 10);
  lock(2, 1, 100, 10);
  give_back(1, 1);
  lock_ahead(1, 2, 1000, 10, {100, 8});
  const auto refused = [&](wire::Return message) { return !service_.receive(1, {std::move(message)}, now_, sent_); };
  EXPECT_TRUE(refused({2, {part(5, true, 1005, 10)}, {}}));
  EXPECT_TRUE(refused({2, {}, {{5, {0, 10}}}}));
  EXPECT_TRUE(refused({2, {}, {{2, {0, 1}}}}));
  EXPECT_TRUE(refused({2, {part(5, true, 1000, 10)}, {{5, {1, 2}}}}));
  EXPECT_FALSE(refused({2, {part(5, true, 1000, 10)}, {{6, {1, 2}}}}));
}

// The ahead level of some shapes is folded in such a way that nobody sees that the elements have the first one's bytes.
TEST_F(LendingService, TakesBackTheRequestOfEveryProgressionThatItLends) {
  crowd();
  uint64_t number = 100, lent = 0;
  for (uint64_t outer = 2000; outer <= 20'000; outer += 1000)
    for (uint64_t inner = 500; inner < outer; inner += 500)
      for (const uint64_t stride : {100u, 1000u, 3000u, 70'000u}) {
        const std::vector<Level> levels{{2, outer}, {2, inner}};
        Region region;
        ASSERT_TRUE(region.add(1000, 64, levels));
        ask_ahead(++number, region, {stride, 8});
        const auto answer = sent();
        ASSERT_EQ(answer.size(), 1u);
        if (answer[0].starts_with("1 lent")) {
          ++lent;
          const wire::Return all{number, {{number, Access::exclusive, true, region}}, {}};
          ASSERT_TRUE(service_.receive(1, {all}, now_, sent_)) << outer << " " << inner << " " << stride;
        }
        say(1, wire::Release{number});
        lock(2, ++number, 0, 1);
        say(2, wire::Release{number});
        sent();
      }
  EXPECT_GT(lent, 400u);
}

TEST_F(LendingService, TakesBackTheFirstElementOfAProgressionOfLevels) {
  crowd();
  Region region;
  ASSERT_TRUE(region.add(0, 64, std::vector<Level>{{2, 12'000}, {2, 3000}}));
  say(2, wire::Release{1});
  ask_ahead(5, region, {1000, 8});
  EXPECT_THAT(sent(), ElementsAre("1 lent 5 of 3")) << "nine are not seen to have the bytes of the first";
  lock(2, 6, 0, 10);
  say(1, wire::Return{5, {{5, Access::exclusive, true, region}}, {}});
  say(1, wire::Release{5});
  EXPECT_THAT(sent(), ElementsAre("1001 recall 5 0-1", "1 recall 5 0-1", "2 granted 6"));
}

// Nine elements fold into eight levels, two do not.
TEST_F(LendingService, ServesThoseWhoWaitAfterAReturnThatKeepsWhatCannotBe) {
  crowd();
  Region region;
  std::vector<Level> levels{{2, 64}};
  for (uint64_t stride = 1024; levels.size() < kMaxLevels; stride *= 8) levels.push_back({2, stride});
  ASSERT_TRUE(region.add(1000, 4, levels));
  ask_ahead(5, region, {8, 8});
  lock(2, 6, 1040, 4);
  ASSERT_THAT(sent(), ElementsAre("1 lent 5 of 9", "1001 recall 5 1-8", "1 recall 5 1-8"));
  ASSERT_FALSE(service_.receive(1, {wire::Return{5, {}, {{7, {0, 2}}}}}, now_, sent_));
  service_.disconnected(1, Service::Ending::orderly, now_, sent_);
  EXPECT_THAT(sent(), ElementsAre("2 granted 6"));
}

Region many_terms(size_t count) {
  Region region;
  for (uint64_t i = 0; i < count; ++i) EXPECT_TRUE(region.add(1000 + i * 100, 10));
  return region;
}

TEST_F(LendingService, LendsNothingAheadOfLongLists) {
  crowd();
  ask_ahead(5, many_terms(Foresight::kMostTerms), {1u << 20, 8});
  EXPECT_THAT(sent(), ElementsAre("1 lent 5 of 9"));
  say(1, wire::Release{5});
  ask_ahead(6, many_terms(Foresight::kMostTerms + 1), {1u << 20, 8});
  EXPECT_THAT(sent(), ElementsAre("1 granted 6"));
}

class LendingWithLittleMemory : public LendingService {
 protected:
  LendingWithLittleMemory() : LendingService({.max_client_memory = 6000, .max_returned_memory = 0}) {}
};

TEST_F(LendingWithLittleMemory, CountsTheElementsThatAreLent) {
  crowd();
  ask_ahead(5, many_terms(50), {1u << 20, 8});
  EXPECT_THAT(sent(), ElementsAre("1 lent 5 of 9"));
  ask_ahead(6, asked_bytes(50, 1), {1u << 20, 8});
  EXPECT_THAT(sent(), ElementsAre("1 lent 6 of 9"));
  ask_ahead(7, many_terms(40), {1u << 20, 8});
  EXPECT_THAT(sent(), ElementsAre("1 refused 7 2"));
}

TEST_F(LendingWithLittleMemory, RefusesReturnsThatNeedMoreThanAClientMayUse) {
  join(1);
  lock(1, 5, 0, 10);
  wire::Return message{5, {}, {}};
  for (uint64_t i = 0; i < 20; ++i) message.parts.push_back(part(10 + i, true, i * 10, 10));
  EXPECT_FALSE(service_.receive(1, {message}, now_, sent_));
  message.parts.resize(8);
  EXPECT_TRUE(service_.receive(1, {message}, now_, sent_));
}

class LendingWithoutEffort : public LendingService {
 protected:
  LendingWithoutEffort() : LendingService({.table_effort = 1}) {}
};

TEST_F(LendingWithoutEffort, RecallsAllOfWhatCountsAsInTheWay) {
  crowd();
  lock_ahead(1, 5, 1000, 10, {100, 8});
  ASSERT_THAT(sent(), ElementsAre("1 lent 5 of 9"));
  Region both;
  ASSERT_TRUE(both.add(1050, 10));
  ASSERT_TRUE(both.add(3005, 10));
  say(2, wire::LockRequest{6, 0, Access::exclusive, false, both});
  EXPECT_THAT(sent(), ElementsAre("1001 recall 5 0-9", "1 recall 5 0-9"));
  give_back(1, 5, {part(5, true, 1000, 10)});
  EXPECT_THAT(sent(), ElementsAre("2 granted 6"));
}

TEST_F(LendingWithoutEffort, RecallsWhatCountsAsInTheWayWhenAnotherIsGone) {
  crowd();
  lock_ahead(1, 5, 1000, 10, {100, 8});
  lock(2, 6, 3000, 10);
  ASSERT_THAT(sent(), ElementsAre("1 lent 5 of 9", "2 granted 6"));
  Region both;
  ASSERT_TRUE(both.add(1050, 10));
  ASSERT_TRUE(both.add(3005, 10));
  say(2, wire::LockRequest{7, 0, Access::exclusive, false, both});
  EXPECT_THAT(sent(), IsEmpty()) << "it waits for 6";
  say(2, wire::Release{6});
  EXPECT_THAT(sent(), ElementsAre("1001 recall 5 0-9", "1 recall 5 0-9"));
  give_back(1, 5);
  EXPECT_THAT(sent(), ElementsAre("2 granted 7"));
}

TEST(Solitude, AsksForMoreWithEachRecall) {
  Solitude solitude;
  solitude.asked(1);
  EXPECT_TRUE(solitude.alone());
  uint64_t most = 0;
  for (int i = 0; i < 10; ++i) {
    solitude.recalled();
    solitude.asked(2);
    uint64_t needed = 0;
    for (; !solitude.alone(); ++needed) solitude.asked(1);
    EXPECT_GE(needed, most);
    most = needed;
  }
  EXPECT_EQ(most, Solitude::kMost + 1);
}

}  // namespace
}  // namespace forebay::lock
