// What lies in a stage before an agent starts (decision 0050).
#include <filesystem>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/agent/test_agent_stage.h"
#include "job/stage/strangers.h"

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

constexpr uid_t kNobody = 65534;

std::vector<std::string> left_in(const wire::SettledT& settled) {
  std::vector<std::string> texts;
  for (const auto& row : settled.left) texts.push_back(row->name + ": " + row->reason);
  std::ranges::sort(texts);
  return texts;
}

class FoundTest : public AgentTest {
 protected:
  FoundTest() : AgentTest("rename") {}

  // Another run begins, on the stage as `change` leaves it.
  template <class Change>
  void begin_run(const Change& change) {
    agent_->kill();
    end_run(stage_);
    change();
    let_file_time_pass(path("clock"));
    agent_->start();
  }
  void write(const std::string& name) const { write_text(stage_ + "/" + name, "x"); }
};

TEST_F(FoundTest, WhatWasThereBeforeIsNeitherStoredNorReplacedNorRemoved) {
  begin_run([&] {
    write("mesh/points");
    write("input.txt");
    write("old.tmp/x");
  });
  ScriptedCoordinator coordinator(rendezvous_);
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 1; }));
  auto zero = rank(0, 1);
  for (const char* name : {"mesh", "input.txt"}) EXPECT_EQ(error(zero->begin(name, 1, 5s)).kind, ErrorKind::exists);
  deliver("mesh");
  const auto published = coordinator.publish("mesh", "mesh", 1);
  ASSERT_TRUE(published);
  EXPECT_TRUE(published->failed);
  EXPECT_THAT(published->error, AllOf(HasSubstr("/mesh: "), HasSubstr("it is not replaced (move it out of the stage")));
  coordinator.say(wire::QuarantineT{.set = "mesh", .id = 0, .reason = "it is damaged"});

  write("s1/x");
  coordinator.say_state(coordinator.next_offer("s1").value(), SetState::durable);
  write("s2/x");
  coordinator.say_state(coordinator.next_offer("s2").value(), SetState::durable);
  EXPECT_TRUE(eventually([&] { return !has_set("s1"); }));
  EXPECT_THAT(left_in(*coordinator.settle(1)), IsEmpty()) << "it does not make the run fail";
  EXPECT_EQ(coordinator.offers(), 2u);
  EXPECT_EQ(read_text(stage_ + "/mesh/points"), "x");
  EXPECT_EQ(read_text(stage_ + "/input.txt"), "x");

  write("mesh/cells");
  EXPECT_THAT(left_in(*coordinator.settle(2)),
              ElementsAre(HasSubstr("mesh: it was there before this job, and was written to")));
  fs::remove_all(stage_ + "/mesh");
  write("mesh/points");
  EXPECT_TRUE(coordinator.next_offer("mesh")) << "the application has put a set in its place";
}

TEST_F(FoundTest, WhatCameWhileTheAgentWasKilledIsASet) {
  ScriptedCoordinator coordinator(rendezvous_);
  agent_->kill();
  write("late/x");
  agent_->start();
  EXPECT_TRUE(coordinator.next_offer("late"));
}

TEST_F(FoundTest, WhatAnEarlierRunHasSeenGoesOn) {
  {
    ScriptedCoordinator coordinator(rendezvous_);
    write("s1/x");
    ASSERT_TRUE(coordinator.next_offer("s1"));
    deliver("s2");
    ASSERT_FALSE(coordinator.publish("s2", "s2", 2)->failed);
  }
  begin_run([&] { write("copy/x"); });
  ScriptedCoordinator coordinator(rendezvous_, 2);
  EXPECT_TRUE(coordinator.next_offer("s1"));
  deliver("s2");
  EXPECT_FALSE(coordinator.publish("s2", "s2", 2)->failed) << "a restart had brought it";
  EXPECT_EQ(coordinator.offers(), 1u);
}

TEST_F(FoundTest, ARunThatIsOverKnowsNothingOfWhatComesLater) {
  ScriptedCoordinator coordinator(rendezvous_);
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 1; }));
  coordinator.say(wire::StopT{});
  ASSERT_EQ(agent_->wait(), 0);
  write("copy/x");
  agent_->start();
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 2; }));
  EXPECT_THAT(left_in(*coordinator.settle(1)), IsEmpty());
  EXPECT_EQ(coordinator.offers(), 0u);
}

TEST_F(FoundTest, WhatAnotherUserPutsThereIsNoSet) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make something another user's";
  ASSERT_EQ(::chmod(stage_.c_str(), 01777), 0);
  ScriptedCoordinator coordinator(rendezvous_);
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 1; }));
  write_text(path("planted/x"), "x");
  for (const char* name : {"planted", "planted/x"}) ASSERT_EQ(::chown(path(name).c_str(), kNobody, kNobody), 0);
  fs::rename(path("planted"), stage_ + "/planted");
  EXPECT_THAT(left_in(*coordinator.settle(1)), IsEmpty());
  EXPECT_EQ(coordinator.offers(), 0u);
  auto zero = rank(0, 1);
  EXPECT_EQ(error(zero->begin("planted", 1, 5s)).kind, ErrorKind::permission);
  EXPECT_TRUE(has_set("planted"));
}

}  // namespace
}  // namespace forebay::job
