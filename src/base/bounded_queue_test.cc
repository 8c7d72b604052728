#include "base/bounded_queue.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace forebay {
namespace {

using namespace std::chrono_literals;

TEST(BoundedQueue, FirstInFirstOutAndDrainsAfterClose) {
  BoundedQueue<std::unique_ptr<int>> queue(3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.push(std::make_unique<int>(i)));
  queue.close();
  EXPECT_FALSE(queue.push(std::make_unique<int>(9)));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*queue.pop().value(), i);
  EXPECT_FALSE(queue.pop());
  EXPECT_FALSE(queue.pop());
}

TEST(BoundedQueue, PushWaitsWhileFull) {
  BoundedQueue<int> queue(2);
  std::atomic<int> pushed = 0;
  std::thread producer([&] {
    for (int i = 0; i < 4; ++i) {
      queue.push(i);
      ++pushed;
    }
  });
  while (pushed < 2) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(pushed, 2);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(queue.pop(), i);
  producer.join();
}

TEST(BoundedQueue, CloseWakesWaitersOnBothSides) {
  BoundedQueue<int> full(1), empty(1);
  full.push(1);
  std::atomic<bool> pushed = true, popped = true;
  std::thread producer([&] { pushed = full.push(2); });
  std::thread consumer([&] { popped = empty.pop().has_value(); });
  std::this_thread::sleep_for(10ms);
  full.close();
  empty.close();
  producer.join();
  consumer.join();
  EXPECT_FALSE(pushed);
  EXPECT_FALSE(popped);
  EXPECT_EQ(full.pop(), 1);
  EXPECT_FALSE(full.pop());
}

TEST(BoundedQueue, EveryValueArrivesOnceAndInItsProducersOrder) {
  constexpr int kProducers = 3, kConsumers = 3, kEach = 2000;
  BoundedQueue<int> queue(5);
  std::vector<std::vector<int>> got(kConsumers);
  std::vector<std::thread> producers, consumers;
  for (int p = 0; p < kProducers; ++p)
    producers.emplace_back([&, p] {
      for (int i = 0; i < kEach; ++i) queue.push(p * kEach + i);
    });
  for (auto& mine : got)
    consumers.emplace_back([&] {
      while (auto value = queue.pop()) mine.push_back(*value);
    });
  for (auto& producer : producers) producer.join();
  queue.close();
  for (auto& consumer : consumers) consumer.join();

  std::vector<int> all, expected(kProducers * kEach);
  for (const auto& mine : got) {
    std::vector<int> last(kProducers, -1);
    for (const int value : mine) EXPECT_GT(value, std::exchange(last[static_cast<size_t>(value / kEach)], value));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::ranges::sort(all);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
}

}  // namespace
}  // namespace forebay
