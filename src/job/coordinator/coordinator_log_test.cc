// What a coordinator decides is logged before anybody hears of it, and known to the next one.
#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

#include "job/coordinator/test_restart.h"

namespace forebay::job {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

nlohmann::json status_of(Stand& stand) {
  const SessionId asker = stand.join();
  stand.send(asker, wire::StatusRequestT{});
  return nlohmann::json::parse(stand.inbox[asker].status.back());
}

class LogTest : public CoordinatorTest {
 protected:
  void drain(const std::string& set, int64_t step) {
    offer_all(set, step);
    work();
  }
};

TEST_F(LogTest, TheNextCoordinatorGoesOnCounting) {
  drain("s1", 1);
  drain("s2", 2);
  Stand next(small_groups(), 2, s);
  const auto totals = status_of(next)["totals"];
  EXPECT_EQ(totals["durable_count"], 2);
  EXPECT_EQ(totals["stored_bytes"], status_of(s)["totals"]["stored_bytes"]);
  EXPECT_EQ(totals["raw_bytes"], status_of(s)["totals"]["raw_bytes"]);

  const SessionId other = next.agent("nc"), worker = next.worker("nc");
  next.send(other, offer_of("s3", {0}, 1, 7));
  next.serve_store();
  next.send(worker, success(next.inbox[worker].tasks.front()));
  next.serve_store();
  EXPECT_EQ(status_of(next)["totals"]["durable_count"], 3);
}

// The coordinator died before it could tell all of them.
TEST_F(LogTest, ASetThatNotAllAgentsHaveHeardOfIsCountedOnce) {
  drain("s1", 1);
  Stand next(small_groups(), 2, s);
  const SessionId late = next.agent("nb");
  next.send(late, offer_of("s1", {2, 3}, 4, 9));
  next.serve_store();
  next.pass(25s, {late});
  ASSERT_THAT(next.inbox[late].news, SizeIs(1));
  EXPECT_EQ(status_of(next)["totals"]["durable_count"], 1);
}

// Its parts of a set would be mixed with those that the application writes again elsewhere.
TEST_F(LogTest, AnExcludedNodeStaysOutWhoeverCoordinates) {
  const SessionId asker = s.join();
  wire::ExcludeT exclude;
  exclude.host = "nb";
  s.send(asker, std::move(exclude));
  Stand next(small_groups(), 2, s);
  EXPECT_THAT(status_of(next)["excluded"], ElementsAre("nb"));
  const SessionId back = next.agent("nb");
  EXPECT_FALSE(next.inbox[back].welcome);
  EXPECT_TRUE(next.inbox[back].closed);
  EXPECT_TRUE(next.inbox[next.agent("na")].welcome);
}

TEST_F(LogTest, SetsKeepTheirPlaces) {
  for (const char* set : {"s1", "s2"}) {
    offer_all(set);
    s.serve_store();
  }
  Stand next(small_groups(), 2, s);
  EXPECT_EQ(s.logged.sums.newest_place, 2u);
  const SessionId one = next.agent("na");
  next.send(one, offer_of("s3", {0}, 1, 7));
  next.serve_store();
  ASSERT_THAT(next.inbox[one].placed, SizeIs(1));
  EXPECT_EQ(next.inbox[one].placed[0].ordinal, 3u) << "nobody of the first two is there, and the store is empty";
}

TEST_F(LogTest, OneWritingOfASetKeepsItsPlaceThoughNobodyWasToldOfIt) {
  const auto offer_written = [](Stand& stand, SessionId agent, const std::string& set, uint64_t number) {
    wire::OfferT offer = offer_of(set, {0}, 1, number);
    offer.policy = std::make_unique<wire::SetPolicyT>();
    offer.policy->write = 77;
    stand.send(agent, std::move(offer));
    stand.serve_store();
  };
  Stand first(small_groups(), 1);
  const SessionId agent = first.agent("na");
  offer_written(first, agent, "s1", 1);
  offer_written(first, agent, "s2", 2);
  Stand next(small_groups(), 2, first);
  const SessionId again = next.agent("na");
  offer_written(next, again, "s3", 3);
  offer_written(next, again, "s1", 4);
  ASSERT_THAT(next.inbox[again].placed, SizeIs(2));
  std::map<std::string, uint64_t> places;
  for (const wire::PlacedT& placed : next.inbox[again].placed) places[placed.set] = placed.ordinal;
  EXPECT_EQ(places["s1"], 1u);
  EXPECT_EQ(places["s3"], 3u);
}

// Of this writing, as an agent has it in the caches.
void offer_cached(Stand& stand, SessionId agent, const std::string& set, uint64_t number) {
  wire::OfferT offer = offer_of(set, {0}, 1, number);
  offer.state = wire::SetState::cached;
  offer.policy = std::make_unique<wire::SetPolicyT>();
  offer.policy->write = 77;
  stand.send(agent, std::move(offer));
}

TEST_F(LogTest, WhatIsRefusedStaysSoWhoeverCoordinates) {
  for (const bool removes : {false, true}) {
    Stand first(small_groups(), 1);
    const SessionId one = first.agent("na"), other = first.agent("nb");
    offer_cached(first, one, "s1", 1);
    first.log_works = false;
    first.send(one, wire::RejectT{.set = "s1", .reason = "NaN", .removes = removes});
    EXPECT_THAT(first.inbox[other].quarantines, IsEmpty());
    EXPECT_THAT(first.inbox[one].rejects, IsEmpty()) << "a coordinator that dies now has refused nothing";
    first.write_log();
    first.collect();
    EXPECT_THAT(first.inbox[other].quarantines, SizeIs(1));
    ASSERT_THAT(first.inbox[one].rejects, SizeIs(1));
    EXPECT_EQ(first.inbox[one].rejects[0].set, "s1");

    Stand next(small_groups(), 2, first);
    const SessionId again = next.agent("na"), was_away = next.agent("nc");
    for (const SessionId agent : {again, was_away}) {
      offer_cached(next, agent, "s1", 2);
      ASSERT_THAT(next.inbox[agent].quarantines, SizeIs(1));
      EXPECT_EQ(next.inbox[agent].quarantines[0].removes, removes);
    }
    next.send(again, wire::RejectT{.set = "s1", .reason = "NaN", .removes = removes});
    EXPECT_THAT(next.inbox[again].rejects, SizeIs(1)) << "an agent that had no answer asks again";
  }
}

TEST_F(LogTest, WhatIsRefusedIsSetAsideInTheStoreThoughAnotherAgentKnowsThatItIsThere) {
  Stand stand(small_groups(), 1);
  const SessionId one = stand.agent("na"), other = stand.agent("nb");
  offer_cached(stand, one, "s1", 1);
  stand.send(one, wire::RejectT{.set = "s1", .reason = "NaN"});
  EXPECT_THAT(stand.logged.aside, IsEmpty());
  wire::OfferT stored = offer_of("s1", {1}, 2, 2);
  stored.state = wire::SetState::durable;
  stored.stored_as = "s1+2";
  stored.policy = std::make_unique<wire::SetPolicyT>();
  stored.policy->write = 77;
  stand.send(other, std::move(stored));
  EXPECT_THAT(stand.inbox[other].quarantines, SizeIs(2));
  EXPECT_TRUE(stand.logged.aside.contains("s1+2"));
}

TEST_F(LogTest, WhatIsRefusedAndThenDeletedIsDeletedByTheNextCoordinatorToo) {
  Stand first(small_groups(), 1);
  const SessionId one = first.agent("na");
  offer_cached(first, one, "s1", 1);
  first.send(one, wire::RejectT{.set = "s1", .reason = "NaN"});
  first.send(one, wire::RejectT{.set = "s1", .removes = true});
  EXPECT_THAT(first.inbox[one].rejects, SizeIs(2));
  const SessionId late = first.agent("nb");
  offer_cached(first, late, "s1", 2);
  ASSERT_THAT(first.inbox[late].quarantines, SizeIs(1));
  EXPECT_TRUE(first.inbox[late].quarantines[0].removes);
  Stand next(small_groups(), 2, first);
  const SessionId again = next.agent("na");
  offer_cached(next, again, "s1", 3);
  ASSERT_THAT(next.inbox[again].quarantines, SizeIs(1));
  EXPECT_TRUE(next.inbox[again].quarantines[0].removes);
}

TEST_F(LogTest, WhatIsRefusedBeforeItIsOfferedIsConfirmedWhenItIs) {
  Stand first(small_groups(), 1);
  const SessionId one = first.agent("na"), other = first.agent("nb");
  first.send(one, wire::RejectT{.set = "s1", .reason = "NaN"});
  offer_cached(first, other, "s1", 1);
  EXPECT_THAT(first.inbox[one].rejects, IsEmpty()) << "nothing says that the other node has the same writing";
  offer_cached(first, one, "s1", 2);
  EXPECT_THAT(first.inbox[one].rejects, SizeIs(1));
  ASSERT_THAT(first.logged.refused, SizeIs(1));
  EXPECT_EQ(first.logged.refused[0].write, 77u);
  // Another rank says the same, after its agent has set it aside.
  const SessionId third = first.agent("nc");
  first.send(third, wire::RejectT{.set = "s1", .reason = "NaN"});
  EXPECT_THAT(first.inbox[third].rejects, SizeIs(1));
}

TEST_F(LogTest, WhatIsRefusedAndOfferedByNobodyIsRefusedByItsNameUntilItIsWrittenAnew) {
  Stand first(small_groups(), 1);
  const SessionId one = first.agent("na");
  first.send(one, wire::RejectT{.set = "s1", .reason = "NaN"});
  EXPECT_THAT(first.inbox[one].rejects, IsEmpty());
  first.pass(2 * first.options.peer_timeout, {one});
  EXPECT_THAT(first.inbox[one].rejects, SizeIs(1));
  EXPECT_THAT(first.logged.refused, SizeIs(1));

  Stand next(small_groups(), 2, first);
  const SessionId again = next.agent("na");
  offer_cached(next, again, "s1", 1);
  EXPECT_THAT(next.inbox[again].quarantines, SizeIs(1));
  next.logged = first.logged;
  next.send(again, offer_of("s1", {0}, 1, 2));
  next.serve_store();
  EXPECT_THAT(next.logged.refused, IsEmpty()) << "it is whole anew";
  const SessionId later = next.agent("nb");
  offer_cached(next, later, "s1", 3);
  EXPECT_THAT(next.inbox[later].quarantines, IsEmpty());
}

TEST_F(LogTest, WhatIsDeletedAndOfferedByNobodyIsDeletedByItsName) {
  Stand first(small_groups(), 1);
  const SessionId one = first.agent("na");
  first.send(one, wire::RejectT{.set = "s1", .removes = true});
  EXPECT_THAT(first.inbox[one].rejects, SizeIs(1));
  EXPECT_THAT(first.inbox[one].quarantines, SizeIs(1));
  Stand next(small_groups(), 2, first);
  const SessionId was_away = next.agent("nb");
  offer_cached(next, was_away, "s1", 1);
  ASSERT_THAT(next.inbox[was_away].quarantines, SizeIs(1));
  EXPECT_TRUE(next.inbox[was_away].quarantines[0].removes);
}

TEST_F(LogTest, WhatIsRefusedIsSoToTheNextCoordinatorAlsoIfNobodyKnowsWhichWritingItIs) {
  Stand first(small_groups(), 1);
  const SessionId one = first.agent("na");
  wire::OfferT offer = offer_of("s1", {0}, 1, 1);
  offer.state = wire::SetState::cached;
  first.send(one, wire::OfferT(offer));
  first.send(one, wire::RejectT{.set = "s1", .reason = "NaN"});
  EXPECT_THAT(first.inbox[one].rejects, SizeIs(1));
  Stand next(small_groups(), 2, first);
  const SessionId again = next.agent("na");
  next.send(again, wire::OfferT(offer));
  EXPECT_THAT(next.inbox[again].quarantines, SizeIs(1));
}

TEST_F(LogTest, WhatTheStoreHasNotSetAsideYetTheNextCoordinatorHasSetAside) {
  Stand first(small_groups(), 1);
  first.send(first.agent("na"), wire::RejectT{.set = "s1", .stored_as = "s1+2", .reason = "NaN"});
  EXPECT_THAT(first.logged.aside, SizeIs(1)) << "the store has not answered";
  Stand next(small_groups(), 2, first);
  next.collect();
  EXPECT_EQ(next.take_command<SetAside>().name, "s1+2");
  next.answer(WasSetAside{"s1+2", {}});
  EXPECT_THAT(next.logged.aside, IsEmpty());
  Stand third(small_groups(), 3, next);
  third.collect();
  EXPECT_THAT(third.commands, IsEmpty()) << "somebody may have taken that back";
}

TEST_F(LogTest, ThreeIntervalsWithoutASetAreSaidByTheNextCoordinator) {
  for (int64_t step = 1; step <= 4; ++step) {
    s.pass(30s, all());
    for (const auto& [agent, ranks] :
         {std::pair(a, std::vector<uint32_t>{0, 1}), std::pair(b, std::vector<uint32_t>{2, 3})}) {
      wire::OfferT offer = offer_of("s" + std::to_string(step), ranks, 4, ++exposure);
      offer.took_ms = 1000;
      s.send(agent, std::move(offer));
    }
    work();
  }
  EXPECT_THAT(s.logged.sums.pace.intervals, SizeIs(3));
  Stand next(small_groups(), 2, s);
  const SessionId agent = next.agent("na");
  wire::PingT ping;
  ping.ranks = 2;
  for (int i = 0; i < 80; ++i) {
    next.send(agent, wire::PingT(ping));
    next.pass(1s);
  }
  EXPECT_TRUE(status_of(next)["no_set"].is_null());
  for (int i = 0; i < 12; ++i) {
    next.send(agent, wire::PingT(ping));
    next.pass(1s);
  }
  EXPECT_THAT(status_of(next)["no_set"], HasSubstr("no set became complete for 9"));
}

TEST_F(LogTest, NobodyHearsOfADecisionBeforeItIsLogged) {
  s.log_works = false;
  offer_all("s1", 1);
  s.serve_store();
  EXPECT_THAT(s.inbox[a].placed, IsEmpty());
  EXPECT_THAT(s.inbox[wa].tasks, IsEmpty());
  const uint64_t pings = s.inbox[a].pings;
  s.pass(5s, all());
  EXPECT_GT(s.inbox[a].pings, pings) << "that says nothing";
  EXPECT_EQ(status_of(s)["log_silent_seconds"], 5);
  s.write_log();
  s.take_output();
  EXPECT_THAT(s.inbox[a].placed, SizeIs(1));
  EXPECT_THAT(s.inbox[wa].tasks, SizeIs(1));
  EXPECT_EQ(status_of(s)["log_silent_seconds"], 0);
}

TEST_F(LogTest, AnExclusionIsConfirmedWhenItIsLogged) {
  s.log_works = false;
  const SessionId asker = s.join();
  wire::ExcludeT exclude;
  exclude.host = "nb";
  s.send(asker, std::move(exclude));
  EXPECT_THAT(s.inbox[asker].status, IsEmpty());
  EXPECT_THAT(s.inbox[b].stops, IsEmpty());
  EXPECT_FALSE(s.inbox[b].closed);
  s.write_log();
  s.take_output();
  EXPECT_THAT(s.inbox[asker].status, SizeIs(1));
  EXPECT_THAT(s.inbox[b].stops, SizeIs(1));
  EXPECT_TRUE(s.inbox[b].closed);
}

// `run` starts the application elsewhere when it sees that.
TEST_F(LogTest, NoStatusNamesAnExclusionThatIsNotLogged) {
  s.log_works = false;
  wire::ExcludeT exclude;
  exclude.host = "nb";
  s.send(s.join(), std::move(exclude));
  EXPECT_THAT(status_of(s)["excluded"], IsEmpty());
  s.write_log();
  EXPECT_THAT(status_of(s)["excluded"], ElementsAre("nb"));
}

// Nobody has heard of them: an agent that was not asked has not failed.
TEST_F(LogTest, OrdersThatWaitForTheLogDoNotGetLate) {
  s.log_works = s.agents_settle = false;
  wire::ExcludeT exclude;
  exclude.host = "elsewhere";
  s.send(s.join(), std::move(exclude));
  const SessionId asker = s.join();
  s.send(asker, wire::SettleRequestT{});
  s.pass(s.options.set_timeout + 10s, all());
  EXPECT_THAT(s.inbox[a].settles, IsEmpty());
  s.write_log();
  s.take_output();
  EXPECT_THAT(s.inbox[asker].status, IsEmpty()) << "they are asked now";
  s.send(a, settled(s.inbox[a].settles.front()));
  s.send(b, settled(s.inbox[b].settles.front()));
  EXPECT_THAT(s.inbox[asker].status, SizeIs(1));
}

TEST_F(LogTest, AnotherOneTriesWhereDecisionsCannotBeLogged) {
  s.log_works = false;
  offer_all("s1", 1);
  s.serve_store();
  const Error full{.kind = ErrorKind::no_space, .what = "no space is left"};
  s.coordinator.log_failed(full, s.now);
  s.coordinator.log_failed(full, s.now);
  s.pass(s.options.store_patience() - 1s, all());
  EXPECT_FALSE(s.step_down);
  EXPECT_THAT(s.log,
              HasSubstr("a decision cannot be logged, and what follows from it waits; it is tried again: no space"));
  EXPECT_EQ(s.log.find("cannot be logged"), s.log.rfind("cannot be logged")) << "it is said once";
  s.pass(1s, all());
  ASSERT_TRUE(s.step_down);
  EXPECT_THAT(*s.step_down, HasSubstr("its decisions cannot be logged: no space is left"));
}

TEST_F(LogTest, AJobEndsThoughNothingCanBeLogged) {
  s.log_works = false;
  offer_all("s1", 1);
  s.serve_store();
  const SessionId user = s.join();
  s.send(user, wire::StopRequestT{});
  EXPECT_TRUE(s.coordinator.stopped());
  EXPECT_THAT(s.inbox[a].placed, SizeIs(1)) << "what was held back comes first";
  EXPECT_THAT(s.inbox[a].stops, SizeIs(1));
}

TEST_F(LogTest, WhatIsStillToBeStoredAtTheEndDoesNotWaitForTheLogWithoutLimit) {
  s.log_works = false;
  offer_all("s1", 1);
  s.serve_store();
  wire::StopRequestT stop;
  stop.drain = true;
  s.send(s.join(), std::move(stop));
  s.pass(s.options.stall_timeout - 1s, all());
  EXPECT_THAT(s.inbox[wa].tasks, IsEmpty());
  s.pass(2s, all());
  work();
  s.pass(s.options.quiet + 1s, all());
  EXPECT_TRUE(s.coordinator.stopped());
  EXPECT_EQ(s.stored.size(), 1u);
}

class LoggedRestartTest : public RestartTest {
 protected:
  // Both nodes have put the set in its place, and have said so.
  void place() {
    ask_all();
    deliver();
    publish(a);
    publish(b);
  }
  void ask_again(Stand& stand, SessionId agent, std::vector<uint32_t> ranks, uint64_t round) {
    wire::RestartRequestT request;
    request.total = 4;
    request.ranks = std::move(ranks);
    request.placed_by = 1;
    request.placed_round = round;
    stand.send(agent, std::move(request));
    stand.serve_store();
  }
};

// Else the ranks of one node go on, and those of the other wait for them.
TEST_F(LoggedRestartTest, ARestartThatSomeHaveHeardOfEndsForTheOthers) {
  place();
  ASSERT_THAT(s.inbox[a].restarted, SizeIs(1));
  const uint64_t round = s.inbox[b].ready.back().round;
  Stand next(small_groups(), 2, s);
  const SessionId late = next.agent("nb");
  ask_again(next, late, {2, 3}, round);
  EXPECT_THAT(next.inbox[late].restarted, ElementsAre(round));
  EXPECT_EQ(status_of(next)["totals"]["restart_count"], 1) << "it is one";
}

TEST_F(LoggedRestartTest, ARestartThatWasNotLoggedBeginsAnewForAll) {
  s.log_works = false;
  place();
  EXPECT_THAT(s.inbox[a].restarted, IsEmpty());
  EXPECT_THAT(s.inbox[b].restarted, IsEmpty());
  const uint64_t round = s.inbox[b].ready.back().round;
  Stand next(small_groups(), 2, s);
  const SessionId one = next.agent("na"), two = next.agent("nb"), worker = next.worker("na");
  ask_again(next, two, {2, 3}, round);
  EXPECT_THAT(next.inbox[two].restarted, IsEmpty());
  ask_again(next, one, {0, 1}, round);
  EXPECT_THAT(next.inbox[worker].tasks, SizeIs(1)) << "all have asked, and it is delivered once more";
}

// The coordinator dies when a number of decisions are logged, and all that it has sent is heard; the next one does the
// rest.
TEST_F(LogTest, ACoordinatorMayDieAtEachRecord) {
  uint64_t most = 1;
  for (uint64_t logged = 0; logged <= most; ++logged) {
    SCOPED_TRACE(logged);
    Stand first(small_groups(1));
    first.log_works = false;
    uint64_t budget = logged, decided = 0;
    const auto log_some = [&](Stand& stand, uint64_t& left) {
      const uint64_t written = std::min<uint64_t>(left, stand.waiting.size());
      left -= written;
      for (uint64_t i = 0; i < written; ++i) stand.logged.apply(stand.waiting[i]);
      stand.waiting.erase(stand.waiting.begin(), stand.waiting.begin() + static_cast<std::ptrdiff_t>(written));
      decided += written;
      stand.coordinator.logged(written, stand.now);
      stand.collect();
      return written != 0;
    };
    const auto write_sets = [&](Stand& stand, uint64_t budget_of_it) {
      const SessionId agent = stand.agent("na"), worker = stand.worker("na");
      for (uint64_t set = 1; set <= 4; ++set) {
        wire::OfferT offer = offer_of("s" + std::to_string(set), {0}, 1, set);
        offer.policy = std::make_unique<wire::SetPolicyT>();
        offer.policy->write = set;
        stand.send(agent, std::move(offer));
        for (bool some = true; some;) {
          stand.serve_store();
          some = log_some(stand, budget_of_it);
          while (!stand.inbox[worker].tasks.empty()) {
            const wire::TaskT task = stand.inbox[worker].tasks.front();
            stand.inbox[worker].tasks.pop_front();
            stand.send(worker, success(task));
            some = true;
          }
        }
      }
      return agent;
    };
    const SessionId agent = write_sets(first, budget);
    if (logged == most && !first.waiting.empty()) ++most;
    const auto heard = first.inbox[agent].news.size();
    EXPECT_GE(first.logged.sums.counts.durable, heard);
    Stand next(small_groups(1), 2, first);
    next.log_works = false;
    const SessionId again = write_sets(next, 1000);
    EXPECT_EQ(next.stored.size(), 4u) << "each is stored once";
    EXPECT_EQ(next.logged.sums.counts.durable, 4u) << "and counted once";
    ASSERT_THAT(next.inbox[again].news, SizeIs(4));
    for (uint64_t set = 0; set < 4; ++set) EXPECT_EQ(next.inbox[again].news[set].ordinal, set + 1);
  }
  EXPECT_GE(most, 8u) << "two for each set";
}

}  // namespace
}  // namespace forebay::job
