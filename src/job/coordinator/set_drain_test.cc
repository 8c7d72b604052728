#include "job/coordinator/set_drain.h"

#include <random>

#include <gmock/gmock.h>

#include "job/coordinator/test_coordinator.h"

namespace forebay::job {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Phase = SetDrain::Phase;

// A set of two nodes, a and b, with two ranks each, in groups of two.
class SetDrainTest : public testing::Test {
 protected:
  static Part part(const std::string& node, int64_t mtime = 7, uint32_t total = 4) {
    wire::OfferT offer = offer_of("s", node == "a" ? std::vector<uint32_t>{0, 1} : std::vector<uint32_t>{2, 3}, total,
                                  node == "a" ? 1 : 2, mtime);
    Part part = value(make_part(offer));
    part.session = node == "a" ? 1 : 2;
    part.node = part.host = node;
    return part;
  }
  // What an action list asks for is as it may be.
  void take(SetDrain::Actions actions) {
    for (StoreCommand& command : actions.commands) commands.push_back(std::move(command));
    for (const auto& work : actions.work) {
      using Kind = SetDrain::Work::Kind;
      if (work.kind == Kind::add) {
        EXPECT_TRUE(units.emplace(work.group, work.ready).second);
      }
      if (work.kind == Kind::remove) {
        EXPECT_EQ(units.erase(work.group), 1u);
      }
      if (work.kind == Kind::set_ready) {
        ASSERT_TRUE(units.contains(work.group));
        units[work.group] = work.ready;
      }
      if (work.kind == Kind::retry) {
        EXPECT_TRUE(units.contains(work.group));
      }
    }
    if (actions.completed) set.go(SetEvent::ready);  // nothing is to protect it
    completed = completed || actions.completed;
    vanished = vanished || actions.vanished;
    if (actions.group_size != 0) group_size = actions.group_size;
    if (actions.ended) ended = actions.ended;
  }
  template <class Command>
  Command next() {
    if (commands.empty()) throw std::runtime_error("nothing is asked of the store");
    auto command = std::get<Command>(std::move(commands.front()));
    commands.pop_front();
    return command;
  }
  void look_up(std::vector<StoredSet> stored = {}) {
    const uint64_t taken = stored.size();
    next<LookUp>();
    take(set.answered(LookedUp{set.id(), std::move(stored), taken}, now));
  }
  void offer(const std::string& node, int64_t mtime = 7) { take(set.offered(node, part(node, mtime), 3, now)); }
  void drain() { take(set.drain(++staging, group_size, now)); }
  void stage(uint64_t number = 1) {
    const Stage command = next<Stage>();
    EXPECT_EQ(command.set, staging);
    take(set.answered(Staged{staging, StagedPlace{.name = "s", .staged = "staged", .number = number}}, now));
  }
  // The set waits to be drained.
  void complete() {
    take(set.begin());
    look_up();
    offer("a");
    offer("b");
    ASSERT_EQ(set.phase(), Phase::waiting);
  }
  void pack(uint32_t group, AttemptId attempt) {
    take(set.task_ended(group, attempt, success(set.task(group, attempt)), now));
  }
  void fail_group(uint32_t group, wire::FaultSide side, ErrorKind kind) {
    const wire::TaskT task = set.task(group, ++attempts);
    take(set.task_ended(group, attempts, failure(task, side, kind), now));
  }

  CoordinatorOptions options;
  SetDrain::Time now{100h};
  SetDrain set{7, "s", options, now};
  std::deque<StoreCommand> commands;
  std::map<uint32_t, bool> units;  // and whether they are ready
  bool completed = false, vanished = false;
  std::optional<SetDrain::Ended> ended;
  uint64_t group_size = 2, staging = 0;
  AttemptId attempts = 100;
};

// A node that was away comes back with a part that was made again elsewhere: it is no newer set for that.
TEST_F(SetDrainTest, OneWritingKeepsItsPlaceWhicheverPartsItHas) {
  for (const uint64_t write : {uint64_t{0}, uint64_t{77}}) {
    SetDrain one(1, "s", options, now);
    const auto place_after_change = [&](int64_t mtime, uint64_t newest) {
      Part changed = part("a", mtime);
      changed.write = write;
      one.offered("a", std::move(changed), 3, now);
      one.take_place(newest);
      return one.ordinal();
    };
    EXPECT_EQ(place_after_change(7, 5), 6u);
    EXPECT_EQ(place_after_change(7, 9), 6u) << "its files are the same";
    EXPECT_EQ(place_after_change(8, 9), write == 0 ? 10u : 6u);
  }
}

TEST_F(SetDrainTest, GoesFromTheFirstOfferToTheCommit) {
  take(set.begin());
  offer("a");
  look_up();
  EXPECT_FALSE(completed);
  offer("b");
  EXPECT_TRUE(completed);
  drain();
  stage();
  ASSERT_THAT(units, SizeIs(2));
  EXPECT_EQ(set.task(1, 8).container, "00001-of-00002.fbc");
  take(set.task_ended(1, 8, success(set.task(1, 8)), now));
  pack(0, 9);
  const auto commit = next<Commit>();
  EXPECT_EQ(commit.manifest.application_name, "s");
  EXPECT_EQ(commit.manifest.step, 3);
  EXPECT_THAT(commit.manifest.sources, SizeIs(2));
  EXPECT_FALSE(ended);
  take(set.answered(Committed{staging, {}}, now));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->state, wire::SetState::durable);
  EXPECT_THAT(commands, IsEmpty());
}

TEST_F(SetDrainTest, ASetOfAMillionFilesIsCutInManyCalls) {
  options.agents = 1;
  wire::OfferT offer;
  offer.set = "s";
  offer.ranks = 1000;
  for (uint32_t i = 0; i < 100'000; ++i)
    offer.files.push_back(offered_file("f" + std::to_string(i), static_cast<int>(i % 1000)));
  Part all = value(make_part(offer));
  all.session = 1;
  take(set.begin());
  look_up();
  take(set.offered("a", std::move(all), {}, now));
  drain();
  uint32_t calls = 1;
  for (; set.phase() == Phase::cutting; ++calls) {
    EXPECT_THAT(commands, IsEmpty());
    take(set.cut(now));
  }
  EXPECT_GE(calls, 10u);
  EXPECT_EQ(next<Stage>().ranks, 1000u);
  EXPECT_EQ(set.row().files, 100'000u);
}

TEST_F(SetDrainTest, ASecondAttemptWritesUnderAnotherName) {
  complete();
  drain();
  stage();
  const std::string first = set.task(0, 5).container, second = set.task(0, 6).container;
  EXPECT_NE(first, second);
  const wire::TaskT late = set.task(0, 5);
  EXPECT_EQ(late.container, first);
  take(set.task_ended(0, 6, success(set.task(0, 6)), now));
  pack(1, 7);
  EXPECT_TRUE(next<Commit>().has_others);
}

TEST_F(SetDrainTest, AReportOfAnotherContainerIsAFailure) {
  complete();
  drain();
  stage();
  wire::TaskDoneT done = success(set.task(0, 5));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(ended);
    set.task(0, 6);
    take(set.task_ended(0, 6, done, now));
  }
  ASSERT_TRUE(ended);
  EXPECT_THAT(ended->message, HasSubstr("another container"));
}

TEST_F(SetDrainTest, FilesThatChangeUndoTheDrainAndTheSameOnesDoNot) {
  complete();
  drain();
  stage();
  offer("a");
  EXPECT_EQ(set.phase(), Phase::packing);
  offer("a", 8);
  EXPECT_EQ(next<Abandon>().set, 1u);
  EXPECT_THAT(units, IsEmpty());
  EXPECT_EQ(set.phase(), Phase::waiting);
  drain();
  EXPECT_EQ(next<Stage>().set, 2u);
  take(set.answered(Staged{1, StagedPlace{.name = "s", .staged = "old", .number = 1}}, now));
  EXPECT_EQ(set.phase(), Phase::staging) << "that was the first staging";
}

TEST_F(SetDrainTest, GroupsOfAnAgentThatIsGoneWaitForIt) {
  complete();
  drain();
  stage();
  take(set.agent_left("b", now));
  EXPECT_THAT(units, ElementsAre(std::pair(0u, true), std::pair(1u, false)));
  EXPECT_TRUE(set.needs_lost("b"));
  EXPECT_FALSE(set.needs_lost("a"));
  offer("b");
  EXPECT_TRUE(units.at(1));
  EXPECT_FALSE(set.needs_lost("b"));
  take(set.agent_left("b", now));
  now += options.set_timeout + 1ms;
  take(set.tick(now, {}));
  ASSERT_TRUE(ended);
  EXPECT_THAT(ended->message, HasSubstr("b did not come back"));
}

TEST_F(SetDrainTest, WhatIsDoneNeedsNobody) {
  complete();
  drain();
  stage();
  pack(1, 5);
  take(set.agent_left("b", now));
  EXPECT_FALSE(set.needs_lost("b"));
  now += options.set_timeout + 1ms;
  take(set.tick(now, {}));
  EXPECT_FALSE(ended);
}

TEST_F(SetDrainTest, AnAgentThatLeavesBeforeTheDrainTakesItsPartWithIt) {
  complete();
  take(set.agent_left("b", now));
  EXPECT_EQ(set.phase(), Phase::incomplete);
  take(set.agent_left("a", now));
  EXPECT_TRUE(vanished);
}

TEST_F(SetDrainTest, WhatTheStoreHasAlreadyIsDurable) {
  take(set.begin());
  offer("a");
  offer("b");
  look_up({{"s", {hash_text(part("a").hash), hash_text(part("b").hash)}}});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->state, wire::SetState::durable);
  EXPECT_FALSE(completed);
}

TEST_F(SetDrainTest, ANameThatWasTakenMeanwhileIsLookedUpAgain) {
  complete();
  drain();
  stage(2);
  EXPECT_EQ(next<Abandon>().set, 1u);
  EXPECT_EQ(set.phase(), Phase::incomplete);
  look_up({{"s", {"0000000000000001"}}});
  EXPECT_EQ(set.phase(), Phase::waiting);
  drain();
  stage(2);
  pack(0, 5);
  pack(1, 6);
  next<Commit>();
  take(set.answered(Committed{staging, fail(ErrorKind::exists, "it is there")}, now));
  EXPECT_EQ(next<Abandon>().set, 2u);
  next<LookUp>();
}

TEST_F(SetDrainTest, AGroupThatDoesNotFitIsHalvedUntilARankIsAlone) {
  complete();
  drain();
  stage();
  fail_group(0, wire::FaultSide::other, ErrorKind::limit);
  EXPECT_EQ(group_size, 1u);
  EXPECT_EQ(set.phase(), Phase::waiting);
  next<Abandon>();
  drain();
  stage();
  EXPECT_THAT(units, SizeIs(4));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(ended);
    fail_group(0, wire::FaultSide::source, ErrorKind::limit);
    now += 1min;
  }
  EXPECT_FALSE(ended) << "memory may be free later";
}

TEST_F(SetDrainTest, AStoreThatFailsIsTriedAgainUntilTheSetTimeout) {
  complete();
  drain();
  next<Stage>();
  uint32_t tries = 0;
  for (; !ended && tries < 100; ++tries) {
    take(set.answered(Staged{staging, fail(ErrorKind::io, "no space")}, now));
    if (ended) break;
    take(set.tick(now + 500ms, {}));
    EXPECT_THAT(commands, IsEmpty()) << "after a pause";
    now += 61s;
    take(set.tick(now, {}));
    next<Stage>();
  }
  EXPECT_EQ(tries, 10u);
  ASSERT_TRUE(ended);
  EXPECT_EQ(next<Abandon>().set, staging);
}

TEST_F(SetDrainTest, WhatIsMissingIsNamed) {
  take(set.begin());
  look_up();
  offer("a");
  const std::string missing = set.what_is_missing({{"a", "a"}, {"b", "host of b"}});
  EXPECT_THAT(missing, HasSubstr("ranks 2-3 of 4"));
  EXPECT_THAT(missing, HasSubstr("host of b"));
  now += options.set_timeout + 1ms;
  take(set.tick(now, {}));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->state, wire::SetState::failed);
}

// Whatever comes in whatever order: units are added once and removed once (take() looks), the store is asked one thing
// at a time, and, when all goes well at last, the set becomes durable with the files that were offered last.
TEST_F(SetDrainTest, AnyOrderOfEventsEndsWell) {
  for (uint32_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    SetDrain one(7, "s", options, now);
    commands.clear();
    units.clear();
    ended.reset();
    std::map<std::string, int64_t> times{{"a", 7}, {"b", 7}};
    const auto apply = [&](SetDrain::Actions actions) {
      if (!ended) take(std::move(actions));
    };
    const auto serve = [&](bool well) {
      if (commands.empty() || ended) return;
      const StoreCommand command = std::move(commands.front());
      commands.pop_front();
      const auto error = fail(ErrorKind::io, "it fails");
      if (std::holds_alternative<LookUp>(command)) {
        if (well)
          apply(one.answered(LookedUp{7, std::vector<StoredSet>{}}, now));
        else
          apply(one.answered(LookedUp{7, error}, now));
      } else if (const auto* staged = std::get_if<Stage>(&command)) {
        if (well)
          apply(one.answered(Staged{staged->set, StagedPlace{.name = "s", .staged = "d", .number = 1}}, now));
        else
          apply(one.answered(Staged{staged->set, error}, now));
      } else if (const auto* commit = std::get_if<Commit>(&command)) {
        Committed committed{commit->set, {}};
        if (!well) committed.result = error;
        apply(one.answered(std::move(committed), now));
      }
    };
    const auto drain_if_it_waits = [&] {
      if (!ended && one.phase() == Phase::whole) one.go(SetEvent::ready);
      if (!ended && one.phase() == Phase::waiting) apply(one.drain(++staging, group_size, now));
    };
    const auto work = [&](bool well) {
      if (ended || units.empty()) return;
      const uint32_t group = std::next(units.begin(), static_cast<long>(random() % units.size()))->first;
      const wire::TaskT task = one.task(group, ++attempts);
      apply(one.task_ended(group, attempts,
                           well ? success(task) : failure(task, wire::FaultSide::source, ErrorKind::io), now));
    };
    apply(one.begin());
    for (int i = 0; i < 80 && !ended; ++i) {
      const std::string node = random() % 2 == 0 ? "a" : "b";
      const auto what = static_cast<uint32_t>(random() % 7);
      if (what == 0) {
        if (random() % 3 == 0) ++times[node];
        if (one.phase() != Phase::committing) apply(one.offered(node, part(node, times[node]), 3, now));
      }
      if (what == 1) apply(one.agent_left(node, now));
      if (what == 2) serve(random() % 3 != 0);
      if (what == 3) drain_if_it_waits();
      if (what == 4) work(random() % 3 != 0);
      if (what == 5) {
        wire::WithdrawnT withdrawn;
        withdrawn.exposure = node == "a" ? 1 : 2;
        if (random() % 3 == 0 && !one.is_drained()) apply(one.withdrawn(node, withdrawn));
      }
      if (what == 6) apply(one.tick(now += 1s, {}));
      if (vanished) break;
    }
    if (std::exchange(vanished, false)) continue;
    for (int i = 0; i < 100 && !ended; ++i) {
      for (const std::string node : {"a", "b"})
        if (!ended && one.phase() != Phase::committing) apply(one.offered(node, part(node, times[node]), 3, now));
      serve(true);
      drain_if_it_waits();
      work(true);
      apply(one.tick(now += 1s, {}));
    }
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->state, wire::SetState::durable) << ended->message;
    EXPECT_THAT(units, IsEmpty());
    EXPECT_THAT(one.row().containers_done, 2u);
  }
}

}  // namespace
}  // namespace forebay::job
