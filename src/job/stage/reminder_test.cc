#include "job/stage/reminder.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "job/client/stage_names.h"
#include "job/stage/begun_sets.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using ReminderTime = Reminder::Time;

TEST(Reminder, SaysWhatStaysWrongOnceAnHour) {
  Reminder reminder;
  const ReminderTime now{};
  EXPECT_TRUE(reminder.is_due("a", now));
  EXPECT_FALSE(reminder.is_due("a", now + 59min));
  EXPECT_TRUE(reminder.is_due("b", now + 59min));
  EXPECT_TRUE(reminder.is_due("a", now + 60min));
  EXPECT_FALSE(reminder.is_due("a", now + 61min));
}

TEST(RuleWatch, SpeaksAfterAMinuteOfFilesThatAreNoSet) {
  const ReminderTime now{};
  RuleWatch watch(now);
  EXPECT_FALSE(watch.looked(false, now + 10s));
  EXPECT_FALSE(watch.looked(true, now + 20s));
  EXPECT_FALSE(watch.looked(true, now + 70s)) << "50 s after they were seen";
  EXPECT_TRUE(watch.looked(true, now + 80s));
  EXPECT_EQ(watch.next(), now + 80s + 1h);
  EXPECT_TRUE(watch.looked(true, now + 80s + 1h));
  EXPECT_FALSE(watch.looked(false, now + 80s + 2h));
  EXPECT_FALSE(watch.looked(true, now + 90s + 2h)) << "other files: their minute begins";
  watch.matched();
  EXPECT_EQ(watch.next(), ReminderTime::max());
}

TEST(BegunSets, AreNotedForTheAgent) {
  std::string stage = (std::filesystem::temp_directory_path() / "forebay-begun-XXXXXX").string();
  ASSERT_NE(::mkdtemp(stage.data()), nullptr);
  EXPECT_TRUE(begun_sets(stage).empty());
  std::filesystem::create_directories(stage + "/" + std::string(kOwnDirectory) + "/gather");
  const std::vector<BegunSet> sets = {{"1.1", "rank 1 is not there again", "/case", true},
                                      {"b", "open", "/case", false}};
  ASSERT_TRUE(note_begun_sets(stage, sets));
  EXPECT_EQ(begun_sets(stage), sets);
  forget_begun_sets(stage);
  EXPECT_TRUE(begun_sets(stage).empty());
  std::filesystem::remove_all(stage);
}

}  // namespace
}  // namespace forebay::job
