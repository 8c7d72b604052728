#include "job/run/relaunch.h"

#include <csignal>

#include <gtest/gtest.h>

namespace forebay::job {
namespace {

using namespace std::chrono_literals;

TEST(Relaunch, EndingsAsShellsHaveThem) {
  EXPECT_TRUE(Ending::of(0).good());
  EXPECT_EQ(Ending::of(3 << 8).as_exit_code(), 3);
  EXPECT_EQ(Ending::of(3 << 8).text(), "exit code 3");
  EXPECT_EQ(Ending::of(SIGKILL).as_exit_code(), 137);
  EXPECT_EQ(Ending::of(SIGKILL).text(), "signal 9 (Killed)");
}

TEST(Relaunch, OnlyACrashThatNobodyWanted) {
  EXPECT_TRUE(should_relaunch({3, 0}, false, false, 0, 1));
  EXPECT_TRUE(should_relaunch({0, SIGKILL}, false, false, 1, 2));
  EXPECT_FALSE(should_relaunch({0, 0}, false, false, 0, 1));
  EXPECT_FALSE(should_relaunch({3, 0}, false, true, 0, 1));
  EXPECT_FALSE(should_relaunch({3, 0}, false, false, 1, 1));
  EXPECT_FALSE(should_relaunch({3, 0}, false, false, 0, 0));
  EXPECT_TRUE(should_relaunch({0, 0}, true, false, 0, 1)) << "it hung, and ended well when it was told to";
  EXPECT_FALSE(should_relaunch({0, 0}, true, true, 0, 1));
}

TEST(Revival, WaitsLongerAndGivesUp) {
  Revival revival;
  const Revival::Time start{};
  auto last = 0ms;
  for (size_t death = 0; death < Revival::kMostDeaths; ++death) {
    const auto pause = revival.after_death(start + death * 1s);
    ASSERT_TRUE(pause) << death;
    EXPECT_GT(*pause, last);
    last = *pause;
  }
  EXPECT_LE(last, 60s);
  EXPECT_FALSE(revival.after_death(start + 10s));
}

TEST(Revival, ForgetsOldDeaths) {
  Revival revival;
  const Revival::Time start{};
  for (int death = 0; death < 100; ++death) EXPECT_EQ(revival.after_death(start + death * 121s), 200ms) << death;
}

}  // namespace
}  // namespace forebay::job
