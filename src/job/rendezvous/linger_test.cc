#include "job/rendezvous/linger.h"

#include <gtest/gtest.h>

namespace forebay::job {
namespace {

using namespace std::chrono_literals;

constexpr Linger::Time kStart{100s};

TEST(Linger, NeverEndsWithoutPatience) {
  Linger linger(0ms, kStart);
  EXPECT_FALSE(linger.is_over(false, kStart + 1'000'000s));
  EXPECT_EQ(linger.next(), Linger::Time::max());
}

TEST(Linger, EndsWhenNobodyHasComeForSoLong) {
  Linger linger(60s, kStart);
  EXPECT_FALSE(linger.is_over(false, kStart + 59s));
  EXPECT_EQ(linger.next(), kStart + 60s);
  EXPECT_TRUE(linger.is_over(false, kStart + 60s));
}

TEST(Linger, CountsFromWhenItWasNeededLast) {
  Linger linger(60s, kStart);
  EXPECT_FALSE(linger.is_over(true, kStart + 50s));
  EXPECT_FALSE(linger.is_over(false, kStart + 100s));
  EXPECT_TRUE(linger.is_over(false, kStart + 110s));
}

TEST(Linger, LooksOftenEnoughToSeeWhoNeedsIt) {
  Linger linger(60s, kStart);
  for (Linger::Time now = kStart; !linger.is_over(false, now); now = linger.next()) {
    ASSERT_GT(linger.next(), now);
    ASSERT_LE(linger.next(), now + 6s);
  }
}

}  // namespace
}  // namespace forebay::job
