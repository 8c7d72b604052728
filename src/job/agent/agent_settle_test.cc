// What an agent makes of its stage when the application rests, and what it leaves alone while one writes.
#include <filesystem>

#include <gmock/gmock.h>

#include "job/agent/test_agent_stage.h"
#include "job/stage/begun_sets.h"

namespace forebay::job {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace testing_support;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using wire::SetState;

std::vector<std::string> texts(const wire::SettledT& settled) {
  std::vector<std::string> texts;
  for (const auto& row : settled.left) texts.push_back(row->name + ": " + row->reason);
  std::ranges::sort(texts);
  return texts;
}

class SettledAgentTest : public AgentTest {
 protected:
  SettledAgentTest() : AgentTest("settled:1:3600") {}
};

TEST_F(SettledAgentTest, OffersWhatWouldHaveSettledAndNamesTheRest) {
  ScriptedCoordinator coordinator(rendezvous_);
  write_text(stage_ + "/dump_1/x", "abc");
  write_text(stage_ + "/dump_2/x", "abc");
  write_text(stage_ + "/dump_2/y", "abc");
  write_text(stage_ + "/dump_3/x", "\x89HDF\r\n\x1a\n that is not true");
  write_text(stage_ + "/dump_4.tmp/x", "abc");
  write_text(stage_ + "/.hidden/x", "abc");
  write_text(stage_ + "/latest/x", "abc");
  write_text(stage_ + "/in the stage", "abc");
  fs::create_directory(stage_ + "/empty");
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 1; }));
  const auto settled = coordinator.settle(7);
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->number, 7u);
  EXPECT_EQ(coordinator.offers(), 1u) << "before it says that it has settled";
  EXPECT_TRUE(coordinator.next_offer("dump_1"));
  EXPECT_THAT(texts(*settled),
              ElementsAre("dump_2: 2 files where 1 are expected", HasSubstr("dump_3: "),
                          HasSubstr("it is one of unfinished files"), HasSubstr("in the stage: it lies"),
                          HasSubstr("'latest' is no name for a set: it stands for the newest")));
  let_file_time_pass(path("clock"));
  write_text(stage_ + "/dump_5/x", "abc");
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(coordinator.offers(), 1u) << "the next run of the application writes it";
}

TEST_F(SettledAgentTest, WhatIsStoredIsNotLeft) {
  ScriptedCoordinator coordinator(rendezvous_);
  write_text(stage_ + "/dump_1/x", "abc");
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 1; }));
  ASSERT_TRUE(coordinator.settle(1));
  const auto offer = coordinator.next_offer("dump_1");
  ASSERT_TRUE(offer);
  coordinator.say_state(*offer, SetState::durable);
  EXPECT_THAT(texts(*coordinator.settle(2)), IsEmpty());
  EXPECT_TRUE(has_set("dump_1"));
  write_text(stage_ + "/dump_1/y", "more");
  EXPECT_THAT(texts(*coordinator.settle(3)), ElementsAre("dump_1: 2 files where 1 are expected"));
}

// The application was started again and writes a set anew that its first run had completed.
TEST_F(SettledAgentTest, RemovesNothingThatIsBeingWritten) {
  ScriptedCoordinator coordinator(rendezvous_);
  write_text(stage_ + "/dump_1/x", "abc");
  write_text(stage_ + "/dump_2/x", "abc");
  write_text(stage_ + "/dump_3/x", "abc");
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 1; }));
  ASSERT_TRUE(coordinator.settle(1));
  std::vector<wire::OfferT> offers;
  for (const char* set : {"dump_1", "dump_2", "dump_3"}) {
    coordinator.rewind();
    offers.push_back(coordinator.next_offer(set).value());
  }
  coordinator.say_state(offers[1], SetState::durable);
  ASSERT_TRUE(coordinator.settle(2)) << "it has heard that";
  write_text(stage_ + "/dump_2/x", "half of what");
  coordinator.say_state(offers[0], SetState::durable);
  coordinator.say_state(offers[2], SetState::durable);
  EXPECT_TRUE(eventually([&] { return !has_set("dump_1"); })) << "of the others the newest one stays";
  EXPECT_EQ(read_text(stage_ + "/dump_2/x"), "half of what");
}

TEST_F(SettledAgentTest, AnEarlierRunsSetDoesNotTakeTheRestartsPlace) {
  ScriptedCoordinator coordinator(rendezvous_);
  write_text(stage_ + "/dump_70/x", "abc");
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 1; }));
  ASSERT_TRUE(coordinator.settle(1));
  const auto old = coordinator.next_offer("dump_70");
  ASSERT_TRUE(old);
  deliver("dump_40");
  ASSERT_FALSE(coordinator.publish("dump_40", "dump_40", 40)->failed);
  coordinator.say_state(*old, SetState::durable);
  ASSERT_TRUE(coordinator.settle(2));
  EXPECT_EQ(read_text(stage_ + "/dump_40/" + file_of(0)), "back");
  let_file_time_pass(path("clock"));
  write_text(stage_ + "/dump_80/x", "abc");
  EXPECT_THAT(texts(*coordinator.settle(3)), IsEmpty());
  coordinator.say_state(coordinator.next_offer("dump_80").value(), SetState::durable);
  EXPECT_TRUE(eventually([&] { return !has_set("dump_40"); })) << "the application has gone on";
}

TEST_F(AgentTest, NamesWhatACodeHasBegunInItsDirectory) {
  ScriptedCoordinator coordinator(rendezvous_);
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 1; }));
  fs::create_directories(stage_ + "/.forebay/gather");
  check(
      note_begun_sets(stage_, {{"1.1", "rank 1 is not there again", "/case", true}, {"1.2", "open", "/case", false}}));
  const auto settled = coordinator.settle(1);
  ASSERT_TRUE(settled);
  EXPECT_THAT(texts(*settled), ElementsAre("1.1: rank 1 is not there again"));
  EXPECT_EQ(settled->left[0]->place, "/case");
}

TEST_F(AgentTest, NamesWhatNobodyHasClaimed) {
  ScriptedCoordinator coordinator(rendezvous_);
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 1; }));
  auto zero = rank(0, 1);
  write(*zero, 0, "dump_1", 1);
  write_text(stage_ + "/a/f", "x");
  const auto settled = coordinator.settle(1);
  ASSERT_TRUE(settled);
  EXPECT_THAT(texts(*settled),
              ElementsAre(AllOf(HasSubstr("a: "), HasSubstr("forebay_begin()"), HasSubstr("--complete")),
                          HasSubstr("dump_1: no rank has completed it")));
  check(zero->complete());
  EXPECT_TRUE(coordinator.next_offer("dump_1"));
}

}  // namespace
}  // namespace forebay::job
