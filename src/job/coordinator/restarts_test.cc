#include "job/coordinator/restarts.h"

#include <algorithm>
#include <deque>
#include <random>

#include <gmock/gmock.h>

#include "job/coordinator/stage_tier.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A tier that answers what a test tells it to.
class PlayedTier final : public Tier {
 public:
  const char* step() const override { return "ask"; }
  void ask(Time, TierNeeds&) override {
    ++asked;
    is_asked = true;
  }
  void forget() override { is_asked = false; }
  std::optional<TierAnswer> answer(Time, TierNeeds&) override {
    if (!is_asked || !says) return std::nullopt;
    is_asked = false;
    return says;
  }
  std::vector<Delivery> deliveries(const TierSet&, const Askers& askers) const override {
    std::vector<Delivery> all;
    for (uint32_t part = 0; part < parts; ++part) all.push_back({part, 0, askers.all.at(askers.by_rank[part]).node});
    return all;
  }
  wire::TaskT task(const TierSet& set, const Delivery& delivery, const Askers&) const override {
    wire::TaskT task;
    task.set = set.name;
    task.first_rank = delivery.part;
    return task;
  }
  void gives(std::vector<std::string> sets, uint64_t ranks = 2) {
    says = TierAnswer{};
    says->none = "there is none";
    for (std::string& name : sets)
      says->sets.push_back({.name = name, .application_name = name, .step = {}, .ranks = ranks, .wrong = {}});
  }

  void prepare(const TierSet&, const Askers&, Time) override { ++prepared_sets; }
  std::optional<Prepared> prepared(Time) override { return how; }

  std::optional<TierAnswer> says;
  std::optional<Prepared> how = Prepared{};
  uint32_t prepared_sets = 0;
  uint32_t asked = 0, parts = 2;
  bool is_asked = false;
};

// Two agents, 1 and 2, of one rank each.
class RestartsTest : public testing::Test {
 protected:
  void SetUp() override { far.gives({}); }
  static Asker asker(SessionId id) {
    return {.id = id,
            .host = "host" + std::to_string(id),
            .node = "node" + std::to_string(id),
            .addresses = {},
            .stage = "/stage",
            .ranks = {},
            .attempt = 0,
            .any_ranks = false,
            .newest = {}};
  }
  void take(Restarts::Actions actions) {
    for (auto& [to, what] : actions.tell) {
      if (const auto* ready = std::get_if<wire::RestartReadyT>(&what)) readies[to].push_back(*ready);
      if (const auto* place = std::get_if<wire::RestartInPlaceT>(&what)) places[to].push_back(*place);
      if (std::holds_alternative<wire::RestartDoneT>(what)) ++dones[to];
      if (const auto* refused = std::get_if<wire::RefusedT>(&what)) refusals[to].push_back(*refused);
    }
    for (const auto& work : actions.work) {
      if (work.kind == Restarts::Work::Kind::add) open.insert(work.delivery);
      if (work.kind == Restarts::Work::Kind::remove) {
        ASSERT_EQ(open.erase(work.delivery), 1u) << "what is removed was there";
      }
      if (work.kind == Restarts::Work::Kind::retry) {
        ASSERT_TRUE(open.contains(work.delivery));
        ++retries;
      }
    }
    answered += static_cast<uint32_t>(actions.answered.size());
    for (const LogLine& line : actions.log.lines) log += line.text + "\n";
  }
  void ask(SessionId id, uint64_t attempt = 0, bool any_ranks = false, uint32_t total = 2) {
    wire::RestartRequestT request;
    request.ranks = {static_cast<uint32_t>(id - 1)};
    request.total = total;
    request.attempt = attempt;
    request.any_ranks = any_ranks;
    take(restarts.requested(asker(id), request, now));
  }
  void advance() { take(restarts.advance(now)); }
  void deliver(uint32_t delivery) { take(restarts.delivered(delivery, {}, now)); }
  void fail(uint32_t delivery, wire::FaultSide side, ErrorKind kind) {
    wire::TaskDoneT done;
    done.failed = true;
    done.side = side;
    done.error_kind = static_cast<uint8_t>(kind);
    done.error = "it failed";
    take(restarts.delivered(delivery, done, now));
  }
  void deliver_all() {
    for (const uint32_t delivery : std::set<uint32_t>(open)) deliver(delivery);
  }
  void publish(SessionId id, uint64_t round, const std::string& error = {}) {
    wire::RestartPublishedT report;
    report.round = round;
    report.failed = !error.empty();
    report.error = error;
    take(restarts.published(id, report, now));
  }
  uint64_t round_of(SessionId id) { return readies[id].back().round; }
  std::string set_of(SessionId id) { return readies[id].back().set; }

  Restarts::Time now{100h};
  PlayedTier near, far;
  Restarts restarts{{.series = "default", .set_timeout = 600s}, {&near, &far}};
  std::map<SessionId, std::vector<wire::RestartReadyT>> readies;
  std::map<SessionId, std::vector<wire::RestartInPlaceT>> places;
  std::map<SessionId, std::vector<wire::RefusedT>> refusals;
  std::map<SessionId, uint32_t> dones;
  std::set<uint32_t> open;
  uint32_t retries = 0, answered = 0;
  std::string log;
};

TEST_F(RestartsTest, OfSetsOfOneTimeTheNearestTiersIsTaken) {
  near.gives({"n1", "n2"});
  far.gives({"f9"});
  ask(1);
  EXPECT_EQ(near.asked, 0u) << "not all ranks have asked";
  ask(2);
  advance();
  EXPECT_EQ(restarts.task(0).set, "n2");
  deliver_all();
  EXPECT_EQ(set_of(1), "n2");
  publish(1, round_of(1));
  EXPECT_EQ(dones[1] + dones[2], 0u);
  publish(2, round_of(2));
  EXPECT_EQ(dones[1] + dones[2], 2u);
  EXPECT_EQ(answered, 1u);
  EXPECT_FALSE(restarts.is_open());
  EXPECT_EQ(restarts.last()->set, "n2");
}

TEST_F(RestartsTest, ATierThatHasNoneOrOnlyDamagedOnesIsPassedOver) {
  near.gives({"n1"});
  far.gives({"f1"});
  ask(1);
  ask(2);
  advance();
  fail(1, wire::FaultSide::store, ErrorKind::corrupt);
  EXPECT_EQ(restarts.task(0).set, "f1");
  EXPECT_THAT(open, SizeIs(2)) << "the other delivery of n1 is of no use";
  deliver_all();
  EXPECT_THAT(readies[1].back().message, HasSubstr("n1 was passed over"));
}

TEST_F(RestartsTest, TheNewestOfAllTiersIsTaken) {
  near.gives({"n1", "n3"});
  far.gives({"f2", "f4"});
  near.says->sets[0].ordinal = 1;
  near.says->sets[1].ordinal = 3;
  far.says->sets[0].ordinal = 2;
  far.says->sets[1].ordinal = 4;
  ask(1);
  ask(2);
  for (const char* name : {"f4", "n3", "f2", "n1"}) {
    advance();
    EXPECT_EQ(restarts.chosen(), name);
    fail(0, wire::FaultSide::store, ErrorKind::corrupt);
  }
  EXPECT_THAT(readies[1].back().message, HasSubstr("f4 was passed over"));
}

TEST_F(RestartsTest, OfASetThatTwoTiersHaveTheNearerOnesIsTaken) {
  near.gives({"a", "b"});
  far.gives({"a", "b", "c"});
  for (size_t i = 0; i < 2; ++i) near.says->sets[i].stored_as = far.says->sets[i].stored_as = std::string(1, "ab"[i]);
  for (size_t i = 0; i < 3; ++i) far.says->sets[i].time_ns = static_cast<int64_t>(i);
  far.says->sets[2].wrong = "it is set aside";
  ask(1);
  ask(2);
  advance();
  EXPECT_EQ(restarts.chosen(), "b");
  EXPECT_EQ(near.prepared_sets, 1u);
  fail(0, wire::FaultSide::store, ErrorKind::corrupt);
  EXPECT_EQ(restarts.chosen(), "b");
  EXPECT_EQ(near.prepared_sets, 1u) << "the store's is the next one";
}

TEST_F(RestartsTest, SetsThatAreNewerThanWhatIsWantedAreLeftOut) {
  near.gives({});
  far.gives({"ckpt.1", "ckpt.2", "ckpt.9"});
  for (const char* newest : {"ckpt.2", "ckpt.5"}) {
    wire::RestartRequestT request;
    request.total = 2;
    for (const SessionId id : {SessionId{1}, SessionId{2}}) {
      request.ranks = {static_cast<uint32_t>(id - 1)};
      request.newest = newest;
      take(restarts.requested(asker(id), request, now));
    }
    advance();
    EXPECT_EQ(restarts.chosen(), "ckpt.2") << newest;
    take(restarts.left(1, now));
    take(restarts.left(2, now));
  }
}

TEST_F(RestartsTest, WhatIsInPlaceIsPublishedWithoutDeliveries) {
  near.gives({"n1"});
  far.gives({});
  near.how = Prepared{.how = Prepared::How::in_place, .encoding = 7};
  ask(1);
  ask(2);
  advance();
  EXPECT_THAT(open, IsEmpty());
  ASSERT_THAT(places[1], SizeIs(1));
  EXPECT_EQ(places[1][0].id, 7u);
  publish(1, places[1][0].round);
  publish(2, places[2][0].round);
  EXPECT_EQ(dones[1] + dones[2], 2u);
}

TEST_F(RestartsTest, WhenNoTierHasOneAllAreToldWhy) {
  near.gives({});
  far.gives({});
  far.says->left_alone = "other (2 sets)";
  ask(1, 4);
  ask(2, 4);
  advance();
  advance();
  for (const SessionId id : {1, 2}) {
    ASSERT_THAT(readies[id], SizeIs(1));
    EXPECT_FALSE(readies[id][0].found);
    EXPECT_EQ(readies[id][0].attempt, 4u);
    EXPECT_THAT(readies[id][0].message, HasSubstr("other (2 sets)"));
  }
  EXPECT_EQ(answered, 1u);
}

TEST_F(RestartsTest, ASetThatIsKnownToBeWrongIsNotTried) {
  far.gives({"f1", "f2"});
  near.gives({});
  far.says->sets[1].wrong = "a repair could not save all of it";
  ask(1);
  ask(2);
  advance();
  advance();
  EXPECT_EQ(restarts.chosen(), "f1");
}

TEST_F(RestartsTest, ANewestSetOfOtherRanksIsForThoseWhoAskedForIt) {
  near.gives({"n1"}, 3);
  far.gives({"f1"});
  ask(1, 0, true);
  ask(2);
  advance();
  EXPECT_EQ(readies[1].back().other_ranks, 3u);
  EXPECT_THAT(open, IsEmpty()) << "an older set is nobody's wish";
  ask(1, 0, true);
  ask(2, 0, true);
  advance();
  deliver_all();
  EXPECT_TRUE(readies[1].back().found);
  EXPECT_EQ(readies[1].back().ranks, 3u);
}

TEST_F(RestartsTest, WhoLeavesWhileATierIsAskedMustAskAgain) {
  ask(1);
  ask(2);
  EXPECT_EQ(near.asked, 1u);
  take(restarts.left(2, now));
  EXPECT_FALSE(near.is_asked);
  near.gives({"n1"});
  far.gives({});
  advance();
  EXPECT_THAT(open, IsEmpty());
  ask(2);
  advance();
  EXPECT_THAT(open, SizeIs(2));
}

TEST_F(RestartsTest, WhoComesAfterTheDeliveryIsOfTheNextRound) {
  near.gives({"n1"});
  ask(1);
  wire::RestartRequestT both;
  both.ranks = {1};
  both.total = 2;
  take(restarts.requested(asker(2), both, now));
  advance();
  take(restarts.requested(asker(3), both, now));
  deliver_all();
  EXPECT_FALSE(readies.contains(3));
  publish(1, round_of(1));
  publish(2, round_of(2));
  ASSERT_TRUE(restarts.is_open());
  EXPECT_EQ(restarts.row()->ranks_asked, 1u);
  ask(1);
  advance();
  deliver_all();
  EXPECT_TRUE(readies.contains(3));
}

TEST_F(RestartsTest, NothingIsDeliveredWhileAnAgentOfARefusedRoundPublishes) {
  near.gives({"n1"});
  ask(1);
  ask(2);
  advance();
  deliver_all();
  const uint64_t first = round_of(1);
  publish(2, first, "no space");
  EXPECT_THAT(refusals[1].back().message, HasSubstr("no space"));
  ask(1);
  ask(2);
  advance();
  EXPECT_THAT(open, IsEmpty()) << "agent 1 is at the first one";
  publish(1, first);
  advance();
  EXPECT_THAT(open, SizeIs(2));
}

TEST_F(RestartsTest, ALaterAttemptEndsTheRoundOfAnEarlierOne) {
  ask(1, 1);
  ask(2, 2);
  ASSERT_THAT(refusals[1], SizeIs(1));
  EXPECT_EQ(refusals[1][0].attempt, 1u);
  ask(1, 1);
  EXPECT_THAT(refusals[1], SizeIs(2));
  ask(1, 2);
  EXPECT_EQ(near.asked, 1u);
}

TEST_F(RestartsTest, ADeliveryIsTriedThreeTimes) {
  near.gives({"n1"});
  ask(1);
  ask(2);
  advance();
  fail(0, wire::FaultSide::other, ErrorKind::io);
  fail(0, wire::FaultSide::other, ErrorKind::io);
  EXPECT_THAT(refusals[1], IsEmpty());
  fail(0, wire::FaultSide::other, ErrorKind::io);
  EXPECT_THAT(refusals[1], SizeIs(1));
  EXPECT_EQ(retries, 3u);
  EXPECT_THAT(open, IsEmpty());
}

TEST_F(RestartsTest, RanksAndAgentsThatKeepTheOthersWaitingAreNamed) {
  ask(1);
  now += 600s;
  take(restarts.tick(now));
  EXPECT_THAT(refusals[1].back().message, HasSubstr("ranks 1 of 2"));
  near.gives({"n1"});
  ask(1);
  ask(2);
  advance();
  deliver_all();
  publish(1, round_of(1));
  now += 600s;
  take(restarts.tick(now));
  EXPECT_THAT(refusals[1].back().message, HasSubstr("host2 (/stage)"));
}

// However asking, leaving, delivering, publishing and time mix: no rank begins from a set of which another one was told
// something else, nothing is delivered to who publishes, and nobody waits once all that are there have done their part.
TEST_F(RestartsTest, AnyOrderOfEventsEndsInOneAnswerForAll) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Restarts one{{.series = "default", .set_timeout = 600s}, {&near, &far}};
    near = {};
    far = {};
    near.gives(seed % 3 == 0 ? std::vector<std::string>{} : std::vector<std::string>{"n1", "n2"});
    far.gives({"f1"});
    std::map<SessionId, uint64_t> told_to_publish;                 // the round that it has not answered
    std::map<uint64_t, std::map<SessionId, std::string>> answers;  // by round
    std::map<uint64_t, std::string> set_of_round;
    std::set<SessionId> waiting;
    open.clear();
    const auto take_all = [&](Restarts::Actions actions) {
      for (const auto& [to, what] : actions.tell) {
        const auto* const ready = std::get_if<wire::RestartReadyT>(&what);
        if (ready != nullptr && !ready->found) {
          waiting.erase(to);
        } else if (ready != nullptr) {
          ASSERT_TRUE(told_to_publish.emplace(to, ready->round).second) << "one question at a time";
          set_of_round[ready->round] = ready->stored_as;
        } else if (const auto* done = std::get_if<wire::RestartDoneT>(&what)) {
          answers[done->round][to] = set_of_round.at(done->round);
          waiting.erase(to);
        } else {
          waiting.erase(to);
        }
      }
      for (const auto& work : actions.work) {
        if (work.kind == Restarts::Work::Kind::add) {
          ASSERT_THAT(told_to_publish, IsEmpty());
          open.insert(work.delivery);
        } else if (work.kind == Restarts::Work::Kind::remove) {
          open.erase(work.delivery);
        }
      }
    };
    const auto ask_for = [&](SessionId id) {
      wire::RestartRequestT request;
      request.ranks = {static_cast<uint32_t>(id - 1)};
      request.total = 2;
      waiting.insert(id);
      take_all(one.requested(asker(id), request, now));
    };
    const auto step = [&](uint32_t what) {
      const SessionId id = 1 + random() % 2;
      if (what == 0 && !told_to_publish.contains(id)) {
        ask_for(id);
      } else if (what == 1 && !open.empty()) {
        wire::TaskDoneT done;
        done.failed = random() % 4 == 0;
        done.side = wire::FaultSide::store;
        done.error_kind = static_cast<uint8_t>(random() % 2 == 0 ? ErrorKind::io : ErrorKind::corrupt);
        take_all(one.delivered(*open.begin(), done, now));
      } else if (what == 2 && told_to_publish.contains(id)) {
        wire::RestartPublishedT report;
        report.round = told_to_publish.extract(id).mapped();
        report.failed = random() % 5 == 0;
        take_all(one.published(id, report, now));
      } else if (what == 3 && random() % 6 == 0) {
        told_to_publish.erase(id);
        waiting.erase(id);
        take_all(one.left(id, now));
      } else {
        take_all(one.tick(now));
      }
    };
    for (int i = 0; i < 60; ++i) step(static_cast<uint32_t>(random() % 5));
    // From now on all goes well.
    for (int i = 0; i < 400 && !HasFatalFailure(); ++i) {
      for (const SessionId id : {SessionId{1}, SessionId{2}})
        if (one.is_open() && !told_to_publish.contains(id)) ask_for(id);
      while (!open.empty()) take_all(one.delivered(*open.begin(), {}, now));
      for (const auto& [id, round] : std::map(std::exchange(told_to_publish, {}))) {
        wire::RestartPublishedT report;
        report.round = round;
        take_all(one.published(id, report, now));
      }
      take_all(one.tick(now));
      if (!one.is_open()) break;
    }
    EXPECT_FALSE(one.is_open());
    EXPECT_THAT(waiting, IsEmpty());
    for (const auto& [round, told] : answers) EXPECT_THAT(told, SizeIs(2)) << "both or none begin";
  }
}

TEST(StageTier, AnswersWhenAllHaveSaidWhatTheyHaveAndItIsDrained) {
  StageTier tier;
  TierNeeds needs;
  EXPECT_FALSE(tier.answer({}, needs));
  tier.observe(false, false);
  tier.ask({}, needs);
  EXPECT_TRUE(needs.settle);
  EXPECT_FALSE(tier.answer({}, needs)) << "the agents were not even asked";
  tier.observe(true, false);
  EXPECT_FALSE(tier.answer({}, needs));
  tier.observe(false, true);
  EXPECT_FALSE(tier.answer({}, needs));
  EXPECT_FALSE(needs.void_incomplete);
  tier.observe(false, false);
  const auto answer = tier.answer({}, needs);
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->sets, IsEmpty());
  EXPECT_TRUE(needs.void_incomplete);
  EXPECT_FALSE(tier.answer({}, needs)) << "once";
  tier.ask({}, needs);
  tier.forget();
  tier.observe(false, false);
  EXPECT_FALSE(tier.answer({}, needs));
}

}  // namespace
}  // namespace forebay::job
