#include "job/stage/levels.h"

#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "job/stage/stage_notes.h"
#include "job/stage/stage_scan.h"
#include "job/test_job.h"

namespace forebay::job {
namespace {

namespace fs = std::filesystem;

TEST(LevelOfSet, IsThatOfTheLargestIntervalThatFits) {
  const std::vector<LevelOptions> levels{{"/ssd", 4}, {"/disk", 12}, {"/asked", 0}};
  for (const auto& [number, directory] :
       {std::pair<uint64_t, const char*>{1, ""}, {4, "/ssd"}, {12, "/disk"}, {16, "/ssd"}, {24, "/disk"}})
    EXPECT_EQ(level_of_set(levels, number), directory) << number;
  EXPECT_EQ(level_of_set({}, 4), "");
}

class LevelTest : public TempTest {
 protected:
  LevelTest() { check(prepare_stage(stage())); }
  std::string stage() const { return path("stage"); }
  std::string directory() const { return path("level"); }

  // A set that was begun on the level, with a file.
  std::string begin(const std::string& set) const {
    const std::string place = value(make_place(directory(), set));
    check(note_begin(stage(), set, 1, nullptr, place));
    std::ofstream(stage() + "/" + set + "/file") << "x";
    return place;
  }
};

TEST_F(LevelTest, BelongsToOneStageAndOneAgent) {
  {
    const Level level = value(Level::take(directory(), stage()));
    EXPECT_EQ(error(Level::take(directory(), stage())).kind, ErrorKind::exists) << "an agent holds it";
  }
  EXPECT_TRUE(Level::take(directory(), stage()));
  const Error other = error(Level::take(directory(), path("other")));
  EXPECT_EQ(other.kind, ErrorKind::exists);
  EXPECT_NE(other.what.find(stage()), std::string::npos) << other.what;
  EXPECT_EQ(error(Level::take("level", stage())).kind, ErrorKind::invalid_argument);
  EXPECT_EQ(error(Level::take(path("nothing/at/level"), stage())).kind, ErrorKind::not_found);
  fs::create_directory(path("open"));
  ::chmod(path("open").c_str(), 0755);
  EXPECT_EQ(error(Level::take(path("open"), stage())).kind, ErrorKind::permission) << "others can enter it";
}

TEST_F(LevelTest, HoldsTheFilesOfASet) {
  const Level level = value(Level::take(directory(), stage()));
  const std::string place = begin("s1");
  EXPECT_TRUE(fs::exists(place + "/file"));
  EXPECT_EQ(place_of(stage(), "s1"), place);
  EXPECT_EQ(level_of(place), directory());
  EXPECT_TRUE(value(has_set(stage(), "s1")));
  EXPECT_TRUE(value(holds_files(stage(), "s1")));
  EXPECT_EQ(value(sets_in(stage())), std::vector<std::string>{"s1"});
  EXPECT_TRUE(value(level.strangers({{place}})).empty());
  EXPECT_EQ(value(level.strangers({})).size(), 1u);

  check(discard_files(stage(), "s1", ""));
  EXPECT_FALSE(fs::exists(place));
  EXPECT_FALSE(fs::exists(fs::symlink_status(stage() + "/s1")));
  check(empty_bin(stage()));
  check(level.empty_bin());
  EXPECT_TRUE(fs::is_empty(directory() + "/.forebay-bin"));
  EXPECT_TRUE(fs::is_empty(stage() + "/.forebay/bin"));
}

// Whose target would be removed with it.
TEST_F(LevelTest, LinksOfOthersAreNotFollowed) {
  const Level level = value(Level::take(directory(), stage()));
  fs::create_directory(path("mine"));
  std::ofstream(path("mine/file")) << "x";
  fs::create_symlink(path("mine"), stage() + "/s1");
  EXPECT_EQ(place_of(stage(), "s1"), std::nullopt);
  EXPECT_FALSE(value(has_set(stage(), "s1")));
  check(discard_files(stage(), "s1", ""));
  check(empty_bin(stage()));
  EXPECT_TRUE(fs::exists(path("mine/file")));

  const std::string place = begin("s2");
  fs::remove(stage() + "/s2");
  fs::create_symlink(path("mine"), stage() + "/s2");
  EXPECT_EQ(place_of(stage(), "s2"), std::nullopt) << "the note tells of another place";
  check(discard_files(stage(), "s2", ""));
  check(empty_bin(stage()));
  EXPECT_TRUE(fs::exists(path("mine/file")));
  EXPECT_TRUE(fs::exists(place));
}

TEST_F(LevelTest, WhatIsSetAsideStaysUntilItIsDiscarded) {
  const Level level = value(Level::take(directory(), stage()));
  const std::string place = begin("s1");
  check(put_into_quarantine(stage(), "s1", "damaged"));
  EXPECT_TRUE(fs::exists(place + "/file"));
  EXPECT_FALSE(value(has_set(stage(), "s1")));
  begin("s1");  // another one of its name
  check(discard_quarantined(stage(), "s1"));
  EXPECT_FALSE(fs::exists(place));
  EXPECT_TRUE(value(has_set(stage(), "s1")));
}

TEST_F(LevelTest, ALinkThatLeadsNowhereIsNoObstacle) {
  const Level level = value(Level::take(directory(), stage()));
  const std::string place = begin("s1");
  fs::remove_all(place);
  check(discard_lost(stage(), "s1"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(stage() + "/s1")));
  EXPECT_FALSE(value(read_begin(stage(), "s1")));
  fs::create_symlink(path("nowhere"), stage() + "/s2");
  check(note_begin(stage(), "s2", 1, nullptr));
  EXPECT_TRUE(fs::is_directory(fs::symlink_status(stage() + "/s2")));
  fs::create_symlink(path("nowhere"), stage() + "/s3");
  begin("s3");
  EXPECT_TRUE(value(has_set(stage(), "s3")));
  check(discard_lost(stage(), "s3"));
  EXPECT_TRUE(value(has_set(stage(), "s3")));
}

TEST_F(LevelTest, WhatAProgramHasRemovedLeavesTheLevelToo) {
  const Level level = value(Level::take(directory(), stage()));
  const std::string place = begin("s1");
  fs::remove(stage() + "/s1");
  check(discard_files(stage(), "s1", "s1/DONE"));
  EXPECT_FALSE(fs::exists(place));
  const std::string second = begin("s2");
  check(discard_notes(stage(), "s2"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(stage() + "/s2"))) << "nobody would know the link";
  fs::remove_all(directory() + "/.forebay-bin");
  check(release_place(second));
  EXPECT_FALSE(fs::exists(second));
}

TEST_F(LevelTest, LinksOfOthersAreNotListed) {
  fs::create_directory(path("home"));
  std::ofstream(path("home/file")) << "x";
  fs::create_symlink(path("home"), stage() + "/s1");
  EXPECT_FALSE(value(holds_files(stage(), "s1")));
  EXPECT_TRUE(value(scan_set(stage(), "s1", {}, {.kind = Completion::Kind::rename})).files.empty());
}

TEST(LevelName, IsOneForAllSpellings) {
  EXPECT_EQ(level_name("/nothing/here//"), "/nothing/here");
  EXPECT_EQ(level_name("/tmp/../tmp/x/."), level_name("/tmp/x"));
}

TEST_F(LevelTest, ASetWhoseLevelIsGoneIsNotThere) {
  {
    const Level level = value(Level::take(directory(), stage()));
    begin("s1");
  }
  fs::remove_all(directory());
  EXPECT_FALSE(value(has_set(stage(), "s1")));
  EXPECT_FALSE(value(holds_files(stage(), "s1")));
  check(discard_files(stage(), "s1", ""));
  check(discard_notes(stage(), "s1"));
  EXPECT_TRUE(value(sets_in(stage())).empty());
}

}  // namespace
}  // namespace forebay::job
