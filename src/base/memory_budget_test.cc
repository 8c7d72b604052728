#include "base/memory_budget.h"

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace forebay {
namespace {

using namespace std::chrono_literals;

TEST(MemoryBudget, LeasesAreGivenBackOnDestructionAndMove) {
  MemoryBudget budget(100);
  {
    auto a = budget.lease(60);
    ASSERT_TRUE(a);
    EXPECT_EQ(a->bytes(), 60u);
    EXPECT_EQ(budget.try_lease(41).error().kind, ErrorKind::limit);
    Lease moved = std::move(*a);
    EXPECT_EQ(moved.bytes(), 60u);
    EXPECT_EQ(a->bytes(), 0u);
    moved = Lease();
    EXPECT_TRUE(budget.try_lease(100));
  }
  EXPECT_TRUE(budget.try_lease(100));
  EXPECT_EQ(budget.peak(), 100u);
}

TEST(MemoryBudget, MoreThanTheWholeIsRefusedAtOnce) {
  MemoryBudget budget(100);
  EXPECT_EQ(budget.lease(101).error().kind, ErrorKind::limit);
  EXPECT_NE(budget.lease(UINT64_MAX).error().hint, "");
  EXPECT_TRUE(budget.lease(100));
  EXPECT_TRUE(budget.lease(0));
}

TEST(MemoryBudget, ContractHoldsUnderManyThreads) {
  constexpr uint64_t kTotal = 1000;
  MemoryBudget budget(kTotal);
  std::atomic<uint64_t> used = 0, most = 0;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 8; ++seed)
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 500; ++i) {
        const uint64_t bytes = random() % 8 == 0 ? kTotal : random() % 400;
        auto lease = random() % 4 == 0 ? budget.try_lease(bytes) : budget.lease(bytes);
        if (!lease) continue;
        const uint64_t now = used += bytes;
        for (uint64_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        used -= bytes;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_LE(most, kTotal);
  EXPECT_GE(budget.peak(), most);
  EXPECT_LE(budget.peak(), kTotal);
  EXPECT_TRUE(budget.try_lease(kTotal)) << "something was not given back";
}

TEST(MemoryBudget, SmallRequestsDoNotOvertakeALargeOne) {
  MemoryBudget budget(100);
  auto first = budget.lease(50);
  std::atomic<int> granted = 0, large_rank = 0, small_rank = 0;
  std::atomic<bool> asking = false;
  std::thread large([&] {
    asking = true;
    const auto lease = budget.lease(100);
    large_rank = ++granted;
    std::this_thread::sleep_for(5ms);
  });
  while (!asking) std::this_thread::yield();
  std::this_thread::sleep_for(100ms);  // the large request is in the queue
  std::thread small([&] {
    const auto lease = budget.lease(10);  // would fit now
    small_rank = ++granted;
  });
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(granted, 0);
  *first = Lease();
  large.join();
  small.join();
  EXPECT_EQ(large_rank, 1);
  EXPECT_EQ(small_rank, 2);
}

TEST(MemoryBudget, CancelWakesWaitersAndRefusesLaterRequests) {
  MemoryBudget budget(10);
  auto held = budget.lease(10);
  std::atomic<int> cancelled = 0;
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i)
    waiters.emplace_back([&] {
      const auto lease = budget.lease(5);
      if (!lease && lease.error().kind == ErrorKind::cancelled) ++cancelled;
    });
  std::this_thread::sleep_for(10ms);
  budget.cancel();
  for (auto& waiter : waiters) waiter.join();
  EXPECT_EQ(cancelled, 4);
  *held = Lease();
  EXPECT_EQ(budget.lease(1).error().kind, ErrorKind::cancelled);
  EXPECT_EQ(budget.try_lease(1).error().kind, ErrorKind::cancelled);
}

}  // namespace
}  // namespace forebay
