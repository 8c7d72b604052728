#include "base/parallel_for.h"

#include <atomic>
#include <chrono>
#include <numeric>

#include <gtest/gtest.h>

namespace forebay {
namespace {

using namespace std::chrono_literals;

TEST(ParallelFor, DoesEachThingOnce) {
  for (const size_t most : {0, 1, 3, 1000}) {
    std::vector<std::atomic<int>> done(100);
    EXPECT_TRUE(parallel_for(done.size(), most, [&](size_t i) -> Result<void> {
      ++done[i];
      return {};
    }));
    EXPECT_TRUE(std::ranges::all_of(done, [](const auto& times) { return times == 1; })) << most;
  }
}

TEST(ParallelFor, DoesNothingForNothing) {
  EXPECT_TRUE(parallel_for(0, 4, [](size_t) -> Result<void> { return fail(ErrorKind::internal, "called"); }));
}

TEST(ParallelFor, DoesSeveralAtATimeAndNoMore) {
  std::atomic<int> now = 0, highest = 0;
  EXPECT_TRUE(parallel_for(12, 4, [&](size_t) -> Result<void> {
    const int running = ++now;
    for (int seen = highest; seen < running && !highest.compare_exchange_weak(seen, running);) {
    }
    std::this_thread::sleep_for(20ms);
    --now;
    return {};
  }));
  EXPECT_GT(highest, 1);
  EXPECT_LE(highest, 4);
}

TEST(ParallelFor, ReturnsTheFirstErrorAndBeginsNoMore) {
  std::atomic<int> begun = 0;
  const auto result = parallel_for(10'000, 3, [&](size_t i) -> Result<void> {
    ++begun;
    std::this_thread::sleep_for(1ms);
    if (i == 1 || i == 2) return fail(ErrorKind::io, std::to_string(i));
    return {};
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what, "1");
  EXPECT_LT(begun, 100);
}

}  // namespace
}  // namespace forebay
