#include "cli/job_places.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <unistd.h>

namespace forebay::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kGiB = uint64_t{1} << 30;

JobPlaces roomy() {
  return {.stage = "/dev/shm/ck", .store = "/scratch/st", .stage_bytes = 100 * kGiB, .stage_free = 50 * kGiB};
}

std::string said(const JobPlaces& places, bool says_room = true) {
  std::string text;
  for (const Finding& finding : judge_job_places(places, says_room)) text += remark_of(finding) + "\n";
  return text;
}

TEST(JobPlaces, SayNothingWhereAllIsWell) {
  EXPECT_EQ("", said(roomy()));
  JobPlaces places = roomy();
  places.set = "s1";
  places.set_bytes = 50 * kGiB;
  EXPECT_EQ("", said(places));
}

TEST(JobPlaces, OnOneDiskAreANote) {
  JobPlaces places = roomy();
  places.are_on_one_disk = true;
  EXPECT_EQ(
      "the store and the stage are on one file system: sets survive a crash of the application, and not the loss of "
      "that disk\n",
      said(places));
}

TEST(JobPlaces, WithoutRoomAreAWarning) {
  JobPlaces places = roomy();
  places.stage_free = 1 << 20;
  EXPECT_THAT(said(places), HasSubstr("warning: only 1.0 MiB are free in the stage /dev/shm/ck: "));
  EXPECT_EQ("", said(places, false));
  places.set = "s1";
  places.set_bytes = 2 * kGiB;
  EXPECT_THAT(said(places), HasSubstr("warning: the set s1 has 2.0 GiB, and only 1.0 MiB are free in the stage"));
  EXPECT_THAT(said(places, false), HasSubstr("s1"));
  places.stage_bytes = 0;
  EXPECT_EQ("", said(places)) << "nobody knows how much is free";
}

TEST(JobPlaces, OfTheApplicationAreThoseOfTheRun) {
  JobPlaces places = roomy();
  places.elsewhere = {{"a process (app)", "/tmp/x", "it cannot be written"}};
  EXPECT_THAT(said(places),
              HasSubstr("warning: a process (app) has FOREBAY_STAGE=/tmp/x (it cannot be written), and the "
                        "stage is /dev/shm/ck: what it writes there is not drained"));
}

TEST(JobPlaces, AreProbed) {
  namespace fs = std::filesystem;
  std::string root = (fs::temp_directory_path() / "forebay-places-XXXXXX").string();
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  fs::create_directories(root + "/stage/s1/d");
  std::ofstream(root + "/stage/s1/d/f") << "12345";
  JobPlaces places = probe_job_places(root + "/stage", root + "/store/that/is/new");
  EXPECT_TRUE(places.are_on_one_disk);
  EXPECT_GT(places.stage_bytes, 0u);
  measure_first_set(places, 0);
  EXPECT_EQ("s1", places.set);
  EXPECT_EQ(5u, places.set_bytes);
  fs::create_directories(root + "/stage/s2");
  measure_first_set(places, 0);
  EXPECT_EQ(0u, places.set_bytes) << "the first one may leave the stage meanwhile";
  EXPECT_EQ("", stage_failure(root));
  EXPECT_EQ("this is no directory", stage_failure(root + "/stage/s1/d/f"));
  EXPECT_EQ("there is no such directory", stage_failure(root + "/x"));
  fs::remove_all(root);
}

}  // namespace
}  // namespace forebay::cli
