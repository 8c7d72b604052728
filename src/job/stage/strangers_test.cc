#include "job/stage/strangers.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/stage/stage_notes.h"
#include "job/stage/stage_scan.h"
#include "job/test_job.h"

namespace forebay::job {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using namespace std::chrono_literals;

constexpr uid_t kNobody = 65534;

class StrangersTest : public TempTest {
 protected:
  StrangersTest() : stage_(path("stage")) { check(prepare_stage(stage_)); }
  void write(const std::string& name) const {
    fs::create_directories(fs::path(stage_ + "/" + name).parent_path());
    std::ofstream(stage_ + "/" + name) << "x";
  }
  Strangers find(const std::string& run) const { return value(Strangers::find(stage_, run)); }
  // As if the agent had been there last then.
  void was_there(std::chrono::seconds ago) const {
    fs::last_write_time(stage_ + "/.forebay/found", fs::file_time_type::clock::now() - ago);
  }

  std::string stage_;
};

TEST_F(StrangersTest, WhatIsThereBeforeTheRunAndInNoNote) {
  write("mesh/points");
  write("input.txt");
  write("latest/x");
  write(".hidden/x");
  write("seen/x");
  check(note_seen(stage_, "seen"));
  check(note_begin(stage_, "begun", 1));
  write("begun/x");
  write("removed/x");
  check(note_seen(stage_, "removed"));
  check(note_outcome(stage_, "removed", {.state = wire::SetState::durable}));
  check(discard_files(stage_, "removed", ""));
  write("removed/x");
  fs::create_directories(stage_ + "/empty/deep");
  fs::create_symlink("mesh", stage_ + "/link");
  const Strangers strangers = find("one");
  EXPECT_TRUE(strangers.are_new());
  EXPECT_THAT(strangers.names(), ElementsAre("input.txt", "latest", "link", "mesh", "removed"))
      << "what was removed and put there again by hand is nobody's";
  write("empty/x");
  EXPECT_FALSE(strangers.has("empty"));
  EXPECT_TRUE(strangers.has("mesh"));
}

TEST_F(StrangersTest, AnAgentThatComesAgainInTheSameRunTakesWhatCameMeanwhile) {
  write("mesh/points");
  (void)find("one");
  write("late/x");
  const Strangers again = find("one");
  EXPECT_FALSE(again.are_new());
  EXPECT_THAT(again.names(), ElementsAre("mesh"));
  EXPECT_FALSE(again.has("late"));
}

TEST_F(StrangersTest, WhatComesAfterARunHasEndedIsNoneOfItsSets) {
  (void)find("one");
  end_run(stage_);
  write("results/x");
  EXPECT_THAT(find("one").names(), ElementsAre("results")) << "even where the next run has the same name";
  EXPECT_THAT(find("two").names(), ElementsAre("results"));
}

TEST_F(StrangersTest, WhatCameWhenARunWasKilledIsItsOwn) {
  write("mesh/points");
  (void)find("one");
  let_file_time_pass(path("clock"));
  write("last/x");
  EXPECT_THAT(find("two").names(), ElementsAre("mesh")) << "its application wrote that, and nobody has seen it";
  EXPECT_THAT(find("two").names(), ElementsAre("mesh"));
}

TEST_F(StrangersTest, WhatCameLongAfterARunWasKilledIsNot) {
  (void)find("one");
  was_there(61s);
  write("results/x");
  EXPECT_THAT(find("two").names(), ElementsAre("results"));
}

TEST_F(StrangersTest, WhatHasTakenTheirPlaceIsNotTheirs) {
  write("mesh/points");
  write("input.txt");
  const Strangers strangers = find("one");
  fs::rename(stage_ + "/mesh", path("away"));
  EXPECT_FALSE(strangers.has("mesh"));
  write("mesh/points");
  EXPECT_FALSE(strangers.has("mesh"));
  EXPECT_TRUE(strangers.has("input.txt"));
  fs::remove_all(stage_ + "/mesh");
  fs::rename(path("away"), stage_ + "/mesh");
  EXPECT_TRUE(strangers.has("mesh"));
}

TEST_F(StrangersTest, WhatWasWrittenToSince) {
  write("mesh/points");
  write("input.txt");
  let_file_time_pass(path("clock"));
  const Strangers strangers = find("one");
  EXPECT_FALSE(strangers.was_changed("mesh"));
  EXPECT_FALSE(strangers.was_changed("input.txt"));
  let_file_time_pass(path("clock"));
  write("mesh/points");
  write("input.txt");
  EXPECT_TRUE(strangers.was_changed("mesh"));
  EXPECT_TRUE(strangers.was_changed("input.txt"));
}

TEST_F(StrangersTest, ANoteThatNobodyCanReadIsAsNone) {
  write("mesh/points");
  (void)find("one");
  write("late/x");
  std::ofstream(stage_ + "/.forebay/found") << "what?";
  EXPECT_THAT(find("one").names(), ElementsAre("late", "mesh"));
}

TEST_F(StrangersTest, ListsAFew) {
  EXPECT_EQ(listed({"a", "b"}), "a, b");
  EXPECT_EQ(listed({"a", "b", "c"}, 2), "a, b, c");
  EXPECT_EQ(listed({"a", "b", "c", "d"}, 2), "a, b and 2 more");
}

TEST_F(StrangersTest, AStageInWhichOthersCanRemoveAnythingIsRefused) {
  ASSERT_EQ(::chmod(stage_.c_str(), 0777), 0);
  EXPECT_EQ(error(prepare_stage(stage_)).kind, ErrorKind::permission);
  ASSERT_EQ(::chmod(stage_.c_str(), 01777), 0);
  EXPECT_TRUE(prepare_stage(stage_));
  ASSERT_EQ(::chmod((stage_ + "/.forebay").c_str(), 0755), 0);
  EXPECT_EQ(error(prepare_stage(stage_)).kind, ErrorKind::permission);
}

TEST_F(StrangersTest, WhatAnotherUserOwnsIsNoSet) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make something another user's";
  const Completion rename{.kind = Completion::Kind::rename};
  const auto reason = [&] {
    return judge("s1", value(scan_set(stage_, "s1", {}, rename)), {}, rename, WallTime::max()).reason;
  };
  write("s1/x");
  EXPECT_EQ(reason(), "");
  ASSERT_EQ(::chown((stage_ + "/s1/x").c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(reason(), "'x' belongs to another user, and may be anything");
  ASSERT_EQ(::chown((stage_ + "/s1").c_str(), kNobody, kNobody), 0);
  EXPECT_TRUE(is_anothers(stage_, "s1"));
  EXPECT_EQ(reason(), "'s1' belongs to another user, and may be anything");
  ASSERT_EQ(::chown(stage_.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(error(prepare_stage(stage_)).kind, ErrorKind::permission);
}

}  // namespace
}  // namespace forebay::job
