// The end of a restart, as an agent has it: what was delivered is published, and then the ranks are told.
#include <filesystem>
#include <future>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/agent/agent.h"
#include "job/agent/test_agent_stage.h"
#include "job/client/client.h"
#include "job/delivery/delivery.h"
#include "job/test_job.h"

namespace forebay::job {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace testing_support;
using wire::SetState;

TEST_F(AgentTest, RestartsWhatWasDelivered) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 2), one = rank(1, 2);
  auto asking = std::async(std::launch::async, [&] { return value(zero->restart(kForEver)); });
  ASSERT_TRUE(eventually([&] { return !coordinator.restarts().empty(); }));
  EXPECT_EQ(coordinator.restarts().back().ranks, std::vector<uint32_t>{0});
  EXPECT_EQ(coordinator.restarts().back().total, 2u);
  EXPECT_EQ(error(one->restart(50ms)).kind, ErrorKind::timeout);
  ASSERT_TRUE(eventually([&] { return coordinator.restarts().back().ranks.size() == 2; }));

  deliver("dump_7+2");
  const auto published = coordinator.publish("dump_7", "dump_7+2", 7);
  ASSERT_TRUE(published);
  EXPECT_EQ(published->round, 1u);
  EXPECT_FALSE(published->failed) << published->error;
  EXPECT_EQ(read_text(stage_ + "/dump_7/" + file_of(0)), "back");
  coordinator.say(wire::RestartDoneT{.round = 2});
  EXPECT_EQ(asking.wait_for(100ms), std::future_status::timeout) << "before all nodes are as far";
  coordinator.say(wire::RestartDoneT{.round = 1});
  const auto answer = asking.get();
  ASSERT_TRUE(answer.found);
  EXPECT_EQ(answer.found->set, "dump_7");
  EXPECT_EQ(answer.found->step, 7);
  EXPECT_EQ(read_text(value(zero->restart_path(file_of(0)))), "back");
  EXPECT_EQ(error(zero->restart_path("none")).kind, ErrorKind::invalid_argument);
  EXPECT_TRUE(value(one->restart(5s)).found) << "it had asked";
  EXPECT_EQ(value(one->wait("dump_7", 0ms)).state, SetState::durable);

  agent_->kill();
  agent_->start();
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 2; }));
  dump(*zero, 0, "dump_8", 8);
  dump(*one, 1, "dump_8", 8);
  EXPECT_TRUE(coordinator.next_offer("dump_8"));
  EXPECT_TRUE(has_set("dump_7"));
}

TEST_F(AgentTest, AsksForSetsOfAnyNumberOfRanksIfAllItsRanksDo) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 2), one = rank(1, 2);
  EXPECT_EQ(error(zero->restart(50ms, true)).kind, ErrorKind::timeout);
  ASSERT_TRUE(eventually([&] { return !coordinator.restarts().empty(); }));
  EXPECT_TRUE(coordinator.restarts().back().any_ranks);
  auto asking = std::async(std::launch::async, [&] { return value(one->restart(kForEver)); });
  ASSERT_TRUE(eventually([&] { return coordinator.restarts().back().ranks.size() == 2; }));
  EXPECT_FALSE(coordinator.restarts().back().any_ranks);
  wire::RestartReadyT ready;
  ready.message = "it is of 3 ranks";
  ready.other_ranks = 3;
  coordinator.say(std::move(ready));
  const auto answer = asking.get();
  EXPECT_FALSE(answer.found);
  EXPECT_EQ(answer.other_ranks, 3u);
  EXPECT_EQ(value(zero->restart(5s, true)).other_ranks, 3u) << "it had asked";
}

TEST_F(AgentTest, TellsTheCoordinatorWhatItCannotPublish) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  auto asking = std::async(std::launch::async, [&] { return error(zero->restart(kForEver)); });
  ASSERT_TRUE(eventually([&] { return !coordinator.restarts().empty(); }));
  write_text(delivered_path(stage_, "dump_7"), "no directory");
  const auto published = coordinator.publish("dump_7", "dump_7", 7);
  ASSERT_TRUE(published);
  EXPECT_TRUE(published->failed);
  EXPECT_NE(published->error.find(delivered_path(stage_, "dump_7")), std::string::npos) << published->error;
  EXPECT_EQ(asking.wait_for(100ms), std::future_status::timeout) << "the coordinator tells all ranks";
  wire::RefusedT refused;
  refused.error_kind = static_cast<uint8_t>(ErrorKind::io);
  refused.message = "on another node: " + published->error;
  coordinator.say(wire::RefusedT(refused));
  EXPECT_EQ(asking.get().what, refused.message);

  // The next time it goes well.
  fs::remove(delivered_path(stage_, "dump_7"));
  asking = std::async(std::launch::async, [&] { return Error{.what = value(zero->restart(kForEver)).found->set}; });
  ASSERT_TRUE(eventually([&] { return coordinator.restarts().size() == 2; }));
  deliver("dump_7");
  EXPECT_FALSE(coordinator.publish("dump_7", "dump_7", 7, 2)->failed);
  coordinator.say(wire::RestartDoneT{.round = 2});
  EXPECT_EQ(asking.get().what, "dump_7");
}

TEST_F(AgentTest, ASetThatNoStageCanHaveIsNotNothing) {
  ScriptedCoordinator coordinator(rendezvous_);
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 1; }));
  const auto published = coordinator.publish("dump.tmp", "dump.tmp", 7);
  ASSERT_TRUE(published);
  EXPECT_TRUE(published->failed);
}

TEST_F(AgentTest, ANodeWithoutFilesOfTheSetIsAsFarAsTheOthers) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  auto asking = std::async(std::launch::async, [&] { return value(zero->restart(kForEver)); });
  ASSERT_TRUE(eventually([&] { return !coordinator.restarts().empty(); }));
  EXPECT_FALSE(coordinator.publish("dump_7", "dump_7", 7)->failed);
  coordinator.say(wire::RestartDoneT{.round = 1});
  EXPECT_TRUE(asking.get().found);
}

TEST_F(AgentTest, AsksTheNextCoordinatorForWhatTheLastOneDidNotEnd) {
  auto zero = rank(0, 1);
  auto first = std::make_unique<ScriptedCoordinator>(rendezvous_, 1);
  auto asking = std::async(std::launch::async, [&] { return value(zero->restart(kForEver)); });
  ASSERT_TRUE(eventually([&] { return !first->restarts().empty(); }));
  deliver("dump_7");
  ASSERT_TRUE(first->publish("dump_7", "dump_7", 7));
  first.reset();
  ScriptedCoordinator second(rendezvous_, 2);
  ASSERT_TRUE(eventually([&] { return !second.restarts().empty(); }));
  EXPECT_EQ(second.restarts().back().ranks, std::vector<uint32_t>{0});
  second.say(wire::RestartDoneT{.round = 1});
  EXPECT_EQ(asking.wait_for(100ms), std::future_status::timeout) << "that was the first one's";
  deliver("dump_8");
  ASSERT_TRUE(second.publish("dump_8", "dump_8", 8));
  second.say(wire::RestartDoneT{.round = 1});
  EXPECT_EQ(asking.get().found->set, "dump_8");
}

TEST_F(AgentTest, RepeatsARefusalUntilACoordinatorHasIt) {
  auto zero = rank(0, 1);
  auto first = std::make_unique<ScriptedCoordinator>(rendezvous_, 1);
  for (const bool removes : {false, true}) {
    auto refusing = std::async(std::launch::async, [&] {
      return removes ? zero->remove("dump_7", kForEver) : zero->reject("dump_7", "dump_7+2", "NaN", kForEver);
    });
    ASSERT_TRUE(eventually([&] { return !first->rejects().empty(); }));
    first = std::make_unique<ScriptedCoordinator>(rendezvous_, removes ? 4 : 2);
    ASSERT_TRUE(eventually([&] { return first->rejects().size() == 1; })) << "the one before died before it answered";
    EXPECT_EQ(first->rejects().front().removes, removes);
    EXPECT_EQ(first->rejects().front().stored_as, removes ? "" : "dump_7+2");
    EXPECT_EQ(refusing.wait_for(100ms), std::future_status::timeout);
    first->say(wire::RejectT{.set = "dump_7", .removes = removes});
    check(refusing.get());
    first = std::make_unique<ScriptedCoordinator>(rendezvous_, removes ? 5 : 3);
    ASSERT_TRUE(eventually([&] { return first->hellos().size() == 1 && first->pings() > 0; }));
    EXPECT_TRUE(first->rejects().empty());
  }
  EXPECT_EQ(error(zero->remove("dump_7", 200ms)).kind, ErrorKind::timeout);
}

TEST_F(AgentTest, ARefusalThatNobodyHasConfirmedFailsWhenItsSetIsWrittenAnew) {
  auto zero = rank(0, 2), one = rank(1, 2);
  ScriptedCoordinator coordinator(rendezvous_, 1);
  auto refusing = std::async(std::launch::async, [&] { return zero->reject("dump_7", {}, "NaN", kForEver); });
  ASSERT_TRUE(eventually([&] { return coordinator.rejects().size() == 1; }));
  check(one->begin("dump_7", 7, 5s));
  EXPECT_EQ(error(refusing.get()).kind, ErrorKind::changed);
}

// Which has heard by the log that the last one had answered others.
TEST_F(AgentTest, TakesTheNextCoordinatorsWordForTheEndOfTheLastOnesRound) {
  auto zero = rank(0, 1);
  auto first = std::make_unique<ScriptedCoordinator>(rendezvous_, 1);
  auto asking = std::async(std::launch::async, [&] { return value(zero->restart(kForEver)); });
  ASSERT_TRUE(eventually([&] { return !first->restarts().empty(); }));
  deliver("dump_7");
  ASSERT_TRUE(first->publish("dump_7", "dump_7", 7));
  first.reset();
  ScriptedCoordinator second(rendezvous_, 2);
  ASSERT_TRUE(eventually([&] { return !second.restarts().empty(); }));
  EXPECT_EQ(second.restarts().back().placed_by, 1u);
  EXPECT_EQ(second.restarts().back().placed_round, 1u);
  second.say(wire::RestartDoneT{.round = 1, .placed_by = 1});
  EXPECT_EQ(asking.get().found->set, "dump_7");
}

TEST_F(AgentTest, ARankThatComesAgainInBetweenIsTold) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  EXPECT_EQ(error(zero->restart(50ms)).kind, ErrorKind::timeout);
  ASSERT_TRUE(eventually([&] { return !coordinator.restarts().empty(); }));
  ASSERT_TRUE(coordinator.publish("dump_7", "dump_7", 7));
  zero = rank(0, 1);
  auto asking = std::async(std::launch::async, [&] { return value(zero->restart(kForEver)); });
  EXPECT_EQ(asking.wait_for(100ms), std::future_status::timeout);
  coordinator.say(wire::RestartDoneT{.round = 1});
  EXPECT_TRUE(asking.get().found);
  EXPECT_EQ(coordinator.restarts().size(), 1u) << "it had asked";
}

// Its part of the round that ends is another process'.
TEST_F(AgentTest, ANewRunInBetweenIsOfTheNextRound) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  EXPECT_EQ(error(zero->restart(50ms)).kind, ErrorKind::timeout);
  ASSERT_TRUE(eventually([&] { return !coordinator.restarts().empty(); }));
  ASSERT_TRUE(coordinator.publish("dump_7", "dump_7", 7));
  zero.reset();
  const pid_t child = ::fork();
  if (child == 0) {
    auto again = rank(0, 1);
    const auto answer = again->restart(20s);
    ::_exit(answer && answer->found && answer->found->set == "dump_8" ? 0 : 1);
  }
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(coordinator.restarts().size(), 1u);
  coordinator.say(wire::RestartDoneT{.round = 1});
  EXPECT_TRUE(eventually([&] { return coordinator.restarts().size() == 2; }));
  EXPECT_TRUE(coordinator.publish("dump_8", "dump_8", 8, 2));
  coordinator.say(wire::RestartDoneT{.round = 2});
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// What it has asked for is no business of the ranks that come after it, perhaps on other nodes.
TEST_F(AgentTest, ARankThatEndsAsksNoMore) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 2), one = rank(1, 2);
  EXPECT_EQ(error(zero->restart(50ms)).kind, ErrorKind::timeout);
  EXPECT_EQ(error(one->restart(50ms)).kind, ErrorKind::timeout);
  ASSERT_TRUE(eventually([&] {
    const auto asked = coordinator.restarts();
    return !asked.empty() && asked.back().ranks.size() == 2;
  }));
  zero.reset();
  EXPECT_TRUE(eventually([&] { return coordinator.restarts().back().ranks == std::vector<uint32_t>{1}; }));
  one.reset();
  EXPECT_TRUE(eventually([&] { return coordinator.restarts().back().ranks.empty(); }));
}

TEST_F(AgentTest, ALaterStartOfTheApplicationHasNothingOfAnEarlierOne) {
  ScriptedCoordinator coordinator(rendezvous_);
  const auto started = [&](uint64_t attempt, uint32_t number) {
    ::setenv("FOREBAY_ATTEMPT", std::to_string(attempt).c_str(), 1);
    auto client = rank(number, 2);
    ::unsetenv("FOREBAY_ATTEMPT");
    return client;
  };
  auto old = started(1, 0);
  EXPECT_EQ(error(old->restart(50ms)).kind, ErrorKind::timeout);
  ASSERT_TRUE(eventually([&] { return !coordinator.restarts().empty(); }));
  EXPECT_EQ(coordinator.restarts().back().attempt, 1u);

  auto later = started(2, 1);
  auto asking = std::async(std::launch::async, [&] { return value(later->restart(kForEver)); });
  ASSERT_TRUE(eventually([&] { return coordinator.restarts().back().attempt == 2; }));
  EXPECT_EQ(coordinator.restarts().back().ranks, std::vector<uint32_t>{1}) << "the old one has asked for nothing now";
  EXPECT_EQ(error(old->restart(5s)).what, "the application was started again meanwhile");

  const auto published = coordinator.publish("dump_7", "dump_7", 7);  // of an attempt before
  ASSERT_TRUE(published);
  EXPECT_TRUE(published->failed) << "nobody wants it any more";
  wire::RefusedT refused;
  refused.error_kind = static_cast<uint8_t>(ErrorKind::cancelled);
  refused.message = "of the first";
  refused.attempt = 1;
  coordinator.say(wire::RefusedT(refused));
  EXPECT_EQ(asking.wait_for(100ms), std::future_status::timeout);
  wire::RestartReadyT nothing;
  nothing.attempt = 2;
  coordinator.say(std::move(nothing));
  EXPECT_FALSE(asking.get().found);
}

TEST_F(AgentTest, TellsThatThereIsNothingToRestartFrom) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  std::jthread answer([&] {
    eventually([&] { return !coordinator.restarts().empty(); });
    wire::RestartReadyT ready;
    ready.message = "the store is empty";
    coordinator.say(std::move(ready));
  });
  const auto restart = value(zero->restart(5s));
  EXPECT_FALSE(restart.found);
  EXPECT_EQ(restart.message, "the store is empty");
  EXPECT_EQ(error(zero->restart_path("x")).kind, ErrorKind::invalid_argument);
}

TEST_F(AgentTest, TellsThatARestartIsRefused) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  std::jthread answer([&] {
    eventually([&] { return !coordinator.restarts().empty(); });
    wire::RefusedT refused;
    refused.error_kind = static_cast<uint8_t>(ErrorKind::invalid_argument);
    refused.message = "others restart 2 ranks";
    coordinator.say(std::move(refused));
  });
  EXPECT_EQ(error(zero->restart(5s)).what, "others restart 2 ranks");
  dump(*zero, 0, "dump_1", 1);
  EXPECT_TRUE(coordinator.next_offer("dump_1"));
  EXPECT_EQ(coordinator.gone(), 0);
}

}  // namespace
}  // namespace forebay::job
