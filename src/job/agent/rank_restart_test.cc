#include "job/agent/rank_restart.h"

#include <random>

#include <gmock/gmock.h>

#include "job/test_job.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Step = RankRestart::Step;

// Two ranks of four, processes 10 and 11; those of a later start are 20 and 21.
class RankRestartTest : public testing::Test {
 protected:
  static ConnectedRank client(uint32_t rank, uint64_t attempt = 1) {
    return {.rank = rank, .ranks = 4, .pid = 10 * attempt + rank, .attempt = attempt};
  }
  static wire::RestartReadyT found(uint64_t round, uint64_t attempt = 1) {
    wire::RestartReadyT ready;
    ready.found = true;
    ready.set = "s1";
    ready.stored_as = "s1+2";
    ready.round = round;
    ready.attempt = attempt;
    return ready;
  }
  static wire::RefusedT refusal(uint64_t attempt) {
    wire::RefusedT refused;
    refused.message = "it cannot be";
    refused.attempt = attempt;
    return refused;
  }
  std::vector<uint32_t> requested() {
    const auto request = restart.request();
    return request ? request->ranks : std::vector<uint32_t>{99};
  }
  uint64_t value_of_placed() {
    const auto request = restart.request();
    return request ? request->placed_round : 99;
  }
  bool is_told(uint32_t rank, uint64_t attempt = 1) { return restart.take_answer(client(rank, attempt)).has_value(); }
  void ask_both() {
    check(restart.ask(client(0), false, now));
    check(restart.ask(client(1), false, now));
    EXPECT_THAT(requested(), ElementsAre(0, 1));
  }
  std::optional<wire::RestartedT> done(uint64_t round, uint64_t placed_by = 0) {
    wire::RestartDoneT done;
    done.round = round;
    done.placed_by = placed_by;
    return restart.done(done, now);
  }

  RankRestart::Time now{100h};
  RankRestart restart;
};

TEST_F(RankRestartTest, OneRequestIsForAllThatAskAtAboutTheSameTime) {
  EXPECT_EQ(restart.request_at(), RankRestart::Time::max());
  check(restart.ask(client(0), true, now));
  EXPECT_EQ(restart.request_at(), now + 20ms);
  check(restart.ask(client(1), false, now + 5ms));
  EXPECT_EQ(restart.request_at(), now + 25ms);
  const auto request = restart.request();
  ASSERT_TRUE(request);
  EXPECT_THAT(request->ranks, ElementsAre(0, 1));
  EXPECT_EQ(request->total, 4u);
  EXPECT_FALSE(request->any_ranks) << "one of them cannot";
  EXPECT_EQ(restart.request_at(), RankRestart::Time::max());
}

TEST_F(RankRestartTest, RanksAreToldWhenAllNodesAreAsFar) {
  ask_both();
  EXPECT_EQ(value(restart.ready(found(5), 1)), Step::go_on);
  EXPECT_FALSE(is_told(0));
  EXPECT_FALSE(done(4)) << "another round";
  ASSERT_TRUE(done(5));
  EXPECT_TRUE(is_told(0));
  EXPECT_FALSE(is_told(0)) << "once";
  EXPECT_TRUE(is_told(1));
  EXPECT_FALSE(done(5));
}

TEST_F(RankRestartTest, ARankThatCeasedToWaitIsToldWhenItAsksAgain) {
  ask_both();
  value(restart.ready(found(5), 1));
  ASSERT_TRUE(done(5));
  check(restart.ask(client(1), false, now));
  EXPECT_EQ(restart.request_at(), RankRestart::Time::max()) << "it has its answer";
  EXPECT_TRUE(is_told(1));
  EXPECT_FALSE(is_told(0, 2)) << "another process of the rank";
  EXPECT_FALSE(is_told(0)) << "for which there was no answer to be kept";
}

TEST_F(RankRestartTest, TheCoordinatorHearsThatNobodyAsksAnyMore) {
  ask_both();
  restart.stop_asking(client(0), now);
  EXPECT_EQ(restart.request_at(), now + 20ms);
  EXPECT_THAT(requested(), ElementsAre(1));
  restart.stop_asking(client(1), now);
  EXPECT_THAT(requested(), IsEmpty());
  EXPECT_THAT(requested(), ElementsAre(99)) << "and hears it once";
}

TEST_F(RankRestartTest, ALaterStartTakesTheEarlierOnesPlace) {
  ask_both();
  check(restart.ask(client(0, 2), false, now));
  EXPECT_EQ(error(restart.ask(client(1, 1), false, now)).kind, ErrorKind::cancelled);
  EXPECT_THAT(requested(), ElementsAre(0));
  EXPECT_EQ(value(restart.ready(found(5, 1), 1)), Step::too_late);
  EXPECT_FALSE(done(5));
  EXPECT_EQ(value(restart.ready(found(6, 2), 1)), Step::go_on);
  ASSERT_TRUE(done(6));
  EXPECT_TRUE(is_told(0, 2));
  EXPECT_FALSE(is_told(1, 1));
}

TEST_F(RankRestartTest, NothingIsAskedForWhileASetIsPublished) {
  ask_both();
  value(restart.ready(found(5), 1));
  restart.begin_publishing();
  EXPECT_FALSE(restart.ready(found(6), 1)) << "an answer is owed";
  restart.interrupted();
  EXPECT_THAT(requested(), ElementsAre(99));
  restart.end_publishing(now);
  EXPECT_EQ(restart.request_at(), now + 20ms);
  EXPECT_THAT(requested(), ElementsAre(0, 1)) << "the next coordinator is asked, also for what is published";
}

// The coordinator may have died when it had answered other nodes.
TEST_F(RankRestartTest, TheNextCoordinatorMayEndTheRoundOfTheOneBefore) {
  ask_both();
  value(restart.ready(found(5), 3));
  restart.placed(5);
  restart.interrupted();
  check(restart.ask(client(0), false, now));
  const auto request = restart.request();
  ASSERT_TRUE(request);
  EXPECT_THAT(request->ranks, ElementsAre(0, 1));
  EXPECT_EQ(request->placed_by, 3u);
  EXPECT_EQ(request->placed_round, 5u);
  EXPECT_FALSE(done(4, 3)) << "another round";
  EXPECT_FALSE(done(5)) << "one of the next coordinator";
  EXPECT_FALSE(done(5, 2)) << "one of another coordinator";
  ASSERT_TRUE(done(5, 3));
  EXPECT_TRUE(is_told(0));
  EXPECT_TRUE(is_told(1));
  EXPECT_THAT(requested(), IsEmpty()) << "nobody asks any more";
}

TEST_F(RankRestartTest, ARoundOfWhichTheSetIsNotInItsPlaceOrThatBeganAnewIsOver) {
  ask_both();
  value(restart.ready(found(5), 3));
  restart.interrupted();
  check(restart.ask(client(0), false, now));
  EXPECT_EQ(value_of_placed(), 0u);
  EXPECT_FALSE(done(5, 3));
  value(restart.ready(found(1), 4));
  restart.placed(5);
  restart.placed(1);
  restart.interrupted();
  check(restart.ask(client(0), false, now));
  EXPECT_EQ(value_of_placed(), 1u);
  value(restart.ready(found(2), 5));
  EXPECT_FALSE(done(1, 4));
  EXPECT_TRUE(done(2));
}

TEST_F(RankRestartTest, WhoAsksDuringARoundIsOfTheNext) {
  check(restart.ask(client(0), false, now));
  EXPECT_THAT(requested(), ElementsAre(0));
  value(restart.ready(found(5), 1));
  check(restart.ask(client(1), false, now));
  EXPECT_THAT(requested(), ElementsAre(99));
  ASSERT_TRUE(done(5));
  EXPECT_FALSE(is_told(1));
  EXPECT_THAT(requested(), ElementsAre(1));
}

TEST_F(RankRestartTest, ARefusalIsForThoseWhoseStartItNames) {
  ask_both();
  check(restart.ask(client(0, 2), false, now));
  EXPECT_TRUE(restart.is_refused(client(1, 1), refusal(1)));
  EXPECT_FALSE(restart.is_refused(client(0, 2), refusal(1)));
  restart.refused(refusal(1));
  EXPECT_THAT(requested(), ElementsAre(0)) << "the later one asks on";
  EXPECT_TRUE(restart.is_refused(client(0, 2), refusal(2)));
  restart.refused(refusal(2));
  EXPECT_THAT(requested(), ElementsAre(99));
}

TEST_F(RankRestartTest, NothingToRestartFromIsAnAnswerToo) {
  ask_both();
  wire::RestartReadyT none;
  none.message = "the store is empty";
  none.attempt = 1;
  EXPECT_EQ(value(restart.ready(none, 1)), Step::go_on);
  EXPECT_EQ(restart.nothing_found(now).message, "the store is empty");
  const auto answer = restart.take_answer(client(0));
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->found);
}

TEST_F(RankRestartTest, WhoIsGoneWhenTheApplicationStartsAgainIsForgotten) {
  ask_both();
  restart.forget_gone([](uint32_t rank, uint64_t) { return rank == 1; }, now);
  EXPECT_THAT(requested(), ElementsAre(1));
  value(restart.ready(found(5), 1));
  ASSERT_TRUE(done(5));
  restart.forget_gone([](uint32_t, uint64_t) { return false; }, now);
  EXPECT_FALSE(is_told(1));
}

// In whatever order the ranks, the coordinator and the publishing come, no rank is told before a round is done, nor
// twice of one; and at last everybody who asks is told.
TEST_F(RankRestartTest, AnyOrderOfEventsTellsEachRankOnce) {
  for (uint32_t seed = 0; seed < 500 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    RankRestart one;
    uint64_t round = 0;
    std::map<uint32_t, uint32_t> may_be_told;  // by rank: rounds that are done, and that it was not told of
    bool is_asked = false, is_publishing = false, is_ready = false;
    const auto step = [&](uint32_t what) {
      const auto rank = static_cast<uint32_t>(random() % 2);
      if (what == 0) check(one.ask(client(rank), false, now));
      if (what == 1) {
        if (const auto request = one.request()) is_asked = !request->ranks.empty();
      }
      if (what == 2 && is_asked && !is_publishing && !is_ready) {
        EXPECT_EQ(value(one.ready(found(++round), 1)), Step::go_on);
        one.begin_publishing();
        is_publishing = is_ready = true;
        is_asked = false;
      }
      if (what == 3 && std::exchange(is_publishing, false)) one.end_publishing(now);
      if (what == 4 && is_ready && !is_publishing) {
        wire::RestartDoneT message;
        message.round = round;
        if (one.done(message, now))
          for (const uint32_t told : {0, 1}) may_be_told[told] = 1;
        is_ready = false;
      }
      if (what == 5 && random() % 4 == 0) {
        one.interrupted();
        is_asked = is_ready = false;
      }
      if (what == 6 && one.take_answer(client(rank))) {
        EXPECT_EQ(may_be_told[rank]--, 1u);
      }
    };
    for (int i = 0; i < 150; ++i) step(static_cast<uint32_t>(random() % 7));
    for (int i = 0; i < 10; ++i) {
      check(one.ask(client(0), false, now));
      check(one.ask(client(1), false, now));
      for (const uint32_t what : {3, 4, 1, 2, 3, 4}) step(what);
    }
    EXPECT_TRUE(one.take_answer(client(0)));
    EXPECT_TRUE(one.take_answer(client(1)));
  }
}

}  // namespace
}  // namespace forebay::job
