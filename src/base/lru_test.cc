#include "base/lru.h"

#include <memory>
#include <random>
#include <string>

#include <gmock/gmock.h>

namespace forebay {
namespace {

using testing::ElementsAre;
using testing::Pointee;

std::vector<std::string> all(const Lru<int, std::string>& lru) {
  std::vector<std::string> values;
  lru.for_each([&](const std::string& value) { values.push_back(value); });
  return values;
}

TEST(Lru, WhatWasUsedLeastRecentlyGoesFirst) {
  Lru<int, std::string> lru;
  lru.add(1, "one", 10);
  lru.add(2, "two", 10);
  lru.add(3, "three", 10);
  EXPECT_THAT(lru.find(1), Pointee(std::string("one")));
  EXPECT_EQ(lru.find(4), nullptr);
  EXPECT_THAT(all(lru), ElementsAre("one", "three", "two"));
  EXPECT_THAT(lru.trim(25), ElementsAre("two"));
  EXPECT_THAT(lru.trim(0, 1), ElementsAre("three"));
  EXPECT_EQ(lru.cost(), 10);
  EXPECT_EQ(lru.size(), 1);
}

TEST(Lru, AValueThatIsThereStays) {
  Lru<int, std::string> lru;
  lru.add(1, "one", 3);
  EXPECT_EQ(lru.add(1, "another", 5), "one");
  EXPECT_EQ(lru.cost(), 3);
  lru.add_cost(1, 4);
  EXPECT_EQ(lru.cost(), 7);
  EXPECT_EQ(lru.take(1), "one");
  EXPECT_EQ(lru.take(1), std::nullopt);
  EXPECT_EQ(lru.cost(), 0);
}

TEST(Lru, SomeMayHaveToStay) {
  Lru<int, std::string> lru;
  for (const int key : {1, 2, 3}) lru.add(key, std::to_string(key));
  EXPECT_EQ(lru.take_oldest([](const std::string& value) { return value != "1"; }), "2");
  EXPECT_EQ(lru.take_oldest([](const std::string&) { return false; }), std::nullopt);
  EXPECT_THAT(all(lru), ElementsAre("3", "1"));
}

TEST(Lru, ARangeOfKeysIsTakenOut) {
  Lru<int, std::string> lru;
  for (const int key : {5, 1, 3, 2}) lru.add(key, std::to_string(key), 2);
  EXPECT_THAT(lru.take_range(2, 5), ElementsAre("2", "3"));
  EXPECT_EQ(lru.cost(), 4);
}

// Beside a list that is searched from its front.
TEST(Lru, IsWhatASimpleListIs) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Lru<int, int> lru;
    std::vector<std::pair<int, uint64_t>> simple;  // key and cost, most recently used first
    for (int i = 0; i < 200; ++i) {
      const int key = static_cast<int>(random() % 12);
      const auto known = std::ranges::find(simple, key, &std::pair<int, uint64_t>::first);
      if (random() % 3 == 0) {
        const uint64_t most = random() % 40;
        lru.trim(most, 1);
        uint64_t cost = 0;
        for (const auto& one : simple) cost += one.second;
        for (; cost > most && simple.size() > 1; simple.pop_back()) cost -= simple.back().second;
        EXPECT_EQ(lru.cost(), cost);
      } else if (known != simple.end()) {
        ASSERT_THAT(lru.find(key), Pointee(key));
        std::rotate(simple.begin(), known, known + 1);
      } else {
        ASSERT_EQ(lru.find(key), nullptr);
        const uint64_t cost = random() % 10;
        lru.add(key, key, cost);
        simple.insert(simple.begin(), {key, cost});
      }
      std::vector<int> left, expected;
      lru.for_each([&](int value) { left.push_back(value); });
      for (const auto& one : simple) expected.push_back(one.first);
      ASSERT_EQ(left, expected);
    }
  }
}

}  // namespace
}  // namespace forebay
