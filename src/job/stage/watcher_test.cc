#include "job/stage/watcher.h"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "job/client/stage_names.h"
#include "job/stage/stage_notes.h"
#include "job/stage/stage_scan.h"
#include "job/test_job.h"

namespace forebay::job {
namespace {

namespace fs = std::filesystem;

class WatcherTest : public TempTest {
 protected:
  WatcherTest() : stage_(path("stage")) { check(prepare_stage(stage_)); }

  Watcher watch(const char* completion) { return value(Watcher::create(stage_, parse_completion(completion).value())); }
  void write(const std::string& name, const std::string& text = "x") const {
    fs::create_directories(fs::path(stage_ + "/" + name).parent_path());
    std::ofstream(stage_ + "/" + name) << text;
  }
  static std::set<std::string> changed(Watcher& watcher) {
    const auto sets = value(watcher.read()).sets;
    return {sets.begin(), sets.end()};
  }

  std::string stage_;
  using Sets = std::set<std::string>;
};

TEST_F(WatcherTest, SeesWhatIsMadeFarBelow) {
  Watcher watcher = watch("rename");
  EXPECT_EQ(changed(watcher), Sets());
  write("one/f");
  EXPECT_EQ(changed(watcher), Sets{"one"});
  write("two/a/b/c/f");
  write("one/a/f");
  EXPECT_EQ(changed(watcher), (Sets{"one", "two"}));
  write("two/a/b/c/g");
  EXPECT_EQ(changed(watcher), Sets{"two"});
  fs::remove(stage_ + "/two/a/b/c/f");
  EXPECT_EQ(changed(watcher), Sets{"two"});
}

TEST_F(WatcherTest, SeesWhatIsRenamedIntoPlace) {
  Watcher watcher = watch("rename");
  write(".dump/deep/f");
  write("dump.tmp/f");
  EXPECT_EQ(changed(watcher), Sets());
  fs::rename(stage_ + "/.dump", stage_ + "/dump1");
  fs::rename(stage_ + "/dump.tmp", stage_ + "/dump2");
  EXPECT_EQ(changed(watcher), (Sets{"dump1", "dump2"}));
  write("dump1/deep/g");
  EXPECT_EQ(changed(watcher), Sets{"dump1"}) << "under its new name";
}

TEST_F(WatcherTest, TellsWhichChangedLast) {
  Watcher watcher = watch("rename");
  for (const char* set : {"s9", "s10", "s1"}) write(std::string(set) + "/f");
  EXPECT_EQ(value(watcher.read()).sets, (std::vector<std::string>{"s9", "s10", "s1"}));
  for (const char* set : {"s9", "s10", "s1", "s9"}) write(std::string(set) + "/g");
  EXPECT_EQ(value(watcher.read()).sets, (std::vector<std::string>{"s10", "s1", "s9"}));
}

TEST_F(WatcherTest, IsNotConfusedByDirectoriesThatVanish) {
  Watcher watcher = watch("rename");
  for (int i = 0; i < 200; ++i) {
    const std::string name = "s" + std::to_string(i);
    write(name + "/a/b/f");
    if (i % 3 == 0) fs::remove_all(stage_ + "/" + name);
    if (i % 3 == 1) fs::rename(stage_ + "/" + name, stage_ + "/." + name);
    if (i % 7 == 0) (void)changed(watcher);
  }
  (void)changed(watcher);
  fs::remove_all(stage_ + "/s2");
  (void)changed(watcher);
  write("s2/a/f");
  EXPECT_EQ(changed(watcher), Sets{"s2"});
  EXPECT_FALSE(watcher.is_blind());
  for (const auto& entry : fs::directory_iterator(stage_))
    if (entry.path().filename() != ".forebay") fs::remove_all(entry.path());
  (void)changed(watcher);
  EXPECT_EQ(watcher.watches(), 2u) << "the stage and the notes";
}

TEST_F(WatcherTest, LooksAtMarkersOnlyWhereApplicationsTellThemselves) {
  Watcher watcher = watch("api");
  check(note_begin(stage_, "dump", 1));
  (void)changed(watcher);
  write("dump/rank0");
  EXPECT_EQ(changed(watcher), Sets());
  std::ofstream(notes_path(stage_, "dump") + "/.rank-00000000.tmp") << "x";
  EXPECT_EQ(changed(watcher), Sets());
  fs::rename(notes_path(stage_, "dump") + "/.rank-00000000.tmp", marker_path(stage_, "dump", 0));
  EXPECT_EQ(changed(watcher), Sets{"dump"});

  watcher.follow("dump");
  write("dump/rank0", "again");
  write("other/f");
  EXPECT_EQ(changed(watcher), Sets{"dump"});
  watcher.forget("dump");
  write("dump/rank0", "again");
  EXPECT_EQ(changed(watcher), Sets());
}

TEST_F(WatcherTest, TellsWhenMoreHappenedThanTheSystemKeeps) {
  size_t limit = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> limit;
  if (limit == 0 || limit > 100'000) GTEST_SKIP() << "the queue is of unknown length, or very long";
  Watcher watcher = watch("rename");
  write("dump/f");
  (void)changed(watcher);
  const std::string a = stage_ + "/dump/a", b = stage_ + "/dump/b";
  for (size_t i = 0; i < limit; ++i) {  // events that differ from the one before are not merged
    ::close(::open(a.c_str(), O_WRONLY | O_CREAT, 0600));
    ::close(::open(b.c_str(), O_WRONLY | O_CREAT, 0600));
  }
  fs::create_directories(stage_ + "/late/deep");
  const auto changes = value(watcher.read());
  EXPECT_TRUE(changes.all);
  write("late/deep/f");
  EXPECT_EQ(changed(watcher), Sets{"late"}) << "directories that were made meanwhile are watched";
}

// However the files of a set come into being, after each change the scan alone decides; a set is never taken for
// complete before its marker, which is the last thing, is there.
TEST_F(WatcherTest, NoHalfWrittenSetIsEverTakenForComplete) {
  const Completion rule = parse_completion("marker:{set}.done").value();
  Watcher watcher = watch("marker:{set}.done");
  constexpr int kSets = 20, kFiles = 10;
  constexpr size_t kBytes = 20'000;
  std::jthread writer([&] {
    for (int i = 0; i < kSets; ++i) {
      const std::string set = "s" + std::to_string(i);
      for (int k = 0; k < kFiles; ++k) {
        fs::create_directories(stage_ + "/" + set);
        std::ofstream out(stage_ + "/" + set + "/f" + std::to_string(k));
        for (size_t n = 0; n < kBytes; n += 1000) out << std::string(1000, 'x') << std::flush;
      }
      write(set + ".done", "");
    }
  });
  std::set<std::string> complete;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(15);
  while (complete.size() < kSets && std::chrono::steady_clock::now() < deadline) {
    pollfd ready{watcher.fd(), POLLIN, 0};
    ::poll(&ready, 1, 100);
    for (const std::string& set : changed(watcher)) {
      const Listing listing = value(scan_set(stage_, set, {}, rule));
      const Verdict verdict =
          judge(set, listing, {}, rule, WallTime(std::chrono::system_clock::now().time_since_epoch()));
      if (!verdict.content) continue;
      complete.insert(set);
      ASSERT_EQ(listing.files.size(), kFiles);
      for (const StagedFile& file : listing.files) ASSERT_EQ(file.row.size, kBytes);
    }
  }
  EXPECT_EQ(complete.size(), kSets);
}

TEST_F(WatcherTest, AHundredThousandFilesAreLookedAtInTime) {
  fs::create_directories(stage_ + "/big");
  for (int i = 0; i < 100'000; ++i)
    ::close(::open((stage_ + "/big/f" + std::to_string(i)).c_str(), O_WRONLY | O_CREAT, 0600));
  const std::clock_t begin = std::clock();
  const Completion rule = parse_completion("rename").value();
  const Listing listing = value(scan_set(stage_, "big", {}, rule));
  const Verdict verdict = judge("big", listing, {}, rule, {});
  ASSERT_TRUE(verdict.content);
  EXPECT_EQ(verdict.content->files.size(), 100'000u);
  EXPECT_LT((std::clock() - begin) / CLOCKS_PER_SEC, 5) << "seconds of processor time";
}

}  // namespace
}  // namespace forebay::job
