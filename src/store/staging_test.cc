#include "store/staging.h"

#include <fstream>
#include <thread>

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store/test_store.h"

namespace forebay::store {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDay = kForeignAgeSeconds;

TEST(Staging, WhoMayBeCleaned) {
  for (const int64_t age : {int64_t{0}, kDay, 100 * kDay}) {
    EXPECT_FALSE(may_clean(LockState::held, true, age));
    EXPECT_FALSE(may_clean(LockState::held, false, age));
    EXPECT_TRUE(may_clean(LockState::free, true, age));
    EXPECT_EQ(may_clean(LockState::free, false, age), age > kDay);
    EXPECT_EQ(may_clean(LockState::unknown, true, age), age > kDay);
    EXPECT_EQ(may_clean(LockState::unknown, false, age), age > kDay);
  }
}

TEST(Staging, HostTokens) {
  EXPECT_EQ(host_token("node-17"), "node-17");
  EXPECT_EQ(host_token("rack1.node17").substr(0, 13), "rack1-node17-");
  const std::string a = host_token("a-very-long-host-name-in-rack-1-001");
  const std::string b = host_token("a-very-long-host-name-in-rack-1-002");
  EXPECT_EQ(a.size(), 24u);
  EXPECT_NE(a, b);
  EXPECT_NE(host_token(""), "");
}

TEST(Staging, ParsesItsOwnNamesOnly) {
  const auto parts = parse_staging_name("run.0001.node-1.42.0123456789abcdef");
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->label, "run.0001");
  EXPECT_EQ(parts->host, "node-1");
  for (const char* bad :
       {"", "a", "a.b.c", "node.42.0123456789abcdef", ".node.42.0123456789abcdef", "a.node.4x.0123456789abcdef",
        "a.node.42.0123", "a.node.42.0123456789ABCDEF", "a.node..0123456789abcdef", "mine"})
    EXPECT_FALSE(parse_staging_name(bad)) << bad;
}

class StagingTest : public TempTest {
 protected:
  // What a dead owner on `host` left.
  std::string leave(const std::string& host, int64_t age_seconds) {
    const std::string name = "set." + host + ".42." + random_token();
    fs::create_directory(path(name));
    for (const std::string& file : {path(name) + "/g000000.fbc", path(name + ".lock")}) {
      std::ofstream(file) << "x";
      age(file, age_seconds);
    }
    age(path(name), age_seconds);
    return name;
  }

  static void age(const std::string& file, int64_t seconds) {
    const timespec time{::time(nullptr) - seconds, 0};
    const timespec times[2] = {time, time};
    ::utimensat(AT_FDCWD, file.c_str(), times, 0);
  }
};

TEST_F(StagingTest, WhatOtherHostsOwnedIsCleanedAfterADayOfSilence) {
  const std::string young = leave("elsewhere", kDay - 100), old = leave("elsewhere", kDay + 100);
  const std::string busy = leave("elsewhere", kDay + 100);
  age(path(busy) + "/g000000.fbc", 5);  // somebody still writes to it
  clean_staging(path(""));
  EXPECT_TRUE(fs::exists(path(young)));
  EXPECT_TRUE(fs::exists(path(busy + "/g000000.fbc")));
  EXPECT_FALSE(fs::exists(path(old)));
  EXPECT_FALSE(fs::exists(path(old + ".lock")));
}

TEST_F(StagingTest, HeldLockProtectsWhateverTheAge) {
  const std::string held = leave("elsewhere", 100 * kDay);
  const Fd lock = value(open_at(AT_FDCWD, path(held + ".lock"), O_RDWR, "lock"));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  clean_staging(path(""));
  EXPECT_TRUE(fs::exists(path(held)));
}

TEST_F(StagingTest, LabelLimitsWhatIsCleaned) {
  const std::string old = leave("elsewhere", 2 * kDay);
  clean_staging(path(""), "other");
  EXPECT_TRUE(fs::exists(path(old)));
  clean_staging(path(""), "set");
  EXPECT_FALSE(fs::exists(path(old)));
}

TEST_F(StagingTest, LinkInPlaceOfALockFileIsLeftAlone) {
  std::ofstream(path("precious")) << "x";
  const std::string name = "set.elsewhere.42.0123456789abcdef";
  fs::create_symlink(path("precious"), path(name + ".lock"));
  clean_staging(path(""));
  EXPECT_TRUE(fs::exists(path("precious")));
  EXPECT_TRUE(fs::is_symlink(path(name + ".lock")));
}

TEST_F(StagingTest, AProcessThatEndsAtOnceRemovesWhatItHasTaken) {
  const pid_t child = ::fork();
  if (child == 0) {
    const StagingName kept = value(StagingName::take(path(""), "kept")),
                      gone = value(StagingName::take(path(""), "gone"));
    for (const StagingName* name : {&kept, &gone}) fs::create_directories(name->path() + "/below");
    kept.leave_to_cleaner();
    remove_taken_names();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  const auto left = value(names_in(path("")));
  EXPECT_EQ(left.size(), 2u);  // the name and its lock
  for (const std::string& name : left) EXPECT_TRUE(name.starts_with("kept.")) << name;
}

// The race between creating a lock file and locking it: whoever takes a name must keep it.
TEST_F(StagingTest, CleanersNeverTakeALivingOwnersName) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> cleaners;
  for (int i = 0; i < 2; ++i)
    cleaners.emplace_back([&] {
      while (!stop) clean_staging(path(""));
    });
  for (int i = 0; i < 200; ++i) {
    const StagingName name = value(StagingName::take(path(""), "set"));
    ASSERT_EQ(::mkdir(name.path().c_str(), 0777), 0);
    std::this_thread::yield();
    ASSERT_TRUE(fs::exists(name.path())) << i;
    ASSERT_TRUE(fs::exists(name.path() + ".lock")) << i;
  }
  stop = true;
  for (auto& cleaner : cleaners) cleaner.join();
  EXPECT_TRUE(names_in(path(""))->empty());
}

}  // namespace
}  // namespace forebay::store
