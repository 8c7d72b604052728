#include "base/rate_limit.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace forebay {
namespace {

using namespace std::chrono_literals;
using Clock = TokenBucket::Clock;

const Clock::time_point kStart{};

TEST(TokenBucket, AFullOneGivesATenthOfASecondAtOnce) {
  TokenBucket bucket(1000, kStart);
  EXPECT_EQ(bucket.take(100, kStart), 0s);
  EXPECT_EQ(bucket.take(10, kStart), 10ms);
}

TEST(TokenBucket, DebtsAreWaitedForInTurn) {
  TokenBucket bucket(1000, kStart);
  EXPECT_EQ(bucket.take(1100, kStart), 1s);
  EXPECT_EQ(bucket.take(500, kStart), 1500ms);
  EXPECT_EQ(bucket.take(500, kStart + 1s), 1s);
}

TEST(TokenBucket, NoMoreThanTheRateOverALongTime) {
  TokenBucket bucket(1'000'000, kStart);
  Clock::time_point now = kStart;
  uint64_t taken = 0;
  for (uint64_t size = 1; now < kStart + 10s; size = size * 7 % 65'537) {
    now += bucket.take(size, now);
    taken += size;
  }
  EXPECT_LE(taken, 10'000'000u + 100'000 + 65'537);
  EXPECT_GE(taken, 10'000'000u);
}

TEST(TokenBucket, IdleTimeIsSavedForATenthOfASecondOnly) {
  TokenBucket bucket(1000, kStart);
  bucket.take(100, kStart);
  EXPECT_EQ(bucket.take(50, kStart + 50ms), 0s);
  EXPECT_EQ(bucket.take(200, kStart + 1h), 100ms);
}

TEST(TokenBucket, WhatIsGivenBackCanBeTakenAgain) {
  TokenBucket bucket(1000, kStart);
  EXPECT_GT(bucket.take(10'000, kStart), 0s);
  bucket.give_back(10'000);
  EXPECT_EQ(bucket.take(100, kStart), 0s);
}

TEST(TokenBucket, HugeNumbersDoNotOverflow) {
  TokenBucket bucket(1, kStart);
  EXPECT_GT(bucket.take(UINT64_MAX, kStart), 24h);
  EXPECT_GT(bucket.take(UINT64_MAX, kStart + 1h), 24h);
}

TEST(RateLimit, ZeroIsNoLimit) {
  RateLimit limit(0);
  EXPECT_TRUE(limit.take(UINT64_MAX));
  limit.charge(UINT64_MAX);
  EXPECT_TRUE(limit.take(UINT64_MAX));
}

TEST(RateLimit, ThreadsShareIt) {
  RateLimit limit(1'000'000);
  const auto start = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 5; ++j) EXPECT_TRUE(limit.take(20'000));
      });
  }
  EXPECT_GE(Clock::now() - start, 300ms);  // 400,000 bytes, of which 100,000 are there
}

TEST(RateLimit, WhatWasChargedIsPaidByTheNext) {
  RateLimit limit(1'000'000);
  const auto start = Clock::now();
  limit.charge(200'000);
  EXPECT_TRUE(limit.take(1));
  EXPECT_GE(Clock::now() - start, 100ms);
}

TEST(RateLimit, ChargingDoesNotWait) {
  RateLimit limit(1'000'000);
  const auto start = Clock::now();
  limit.charge(100'000'000);
  EXPECT_LT(Clock::now() - start, 50s);
}

TEST(RateLimit, AStopEndsTheWaitAndFreesWhatWasTaken) {
  RateLimit limit(1000);
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(20ms);
    stop.request_stop();
  });
  EXPECT_EQ(limit.take(1'000'000'000, stop.get_token()).error().kind, ErrorKind::cancelled);
  EXPECT_TRUE(limit.take(50));
  EXPECT_EQ(limit.take(1, stop.get_token()).error().kind, ErrorKind::cancelled);
}

}  // namespace
}  // namespace forebay
