#include "view/read/cover.h"

#include <random>

#include <gmock/gmock.h>

#include "view/testing.h"

namespace forebay::view {
namespace {

// A random box inside of `shape`, perhaps empty.
Box random_box(std::mt19937& random, const Shape& shape) {
  Box box{shape, shape};
  for (size_t d = 0; d < shape.size(); ++d) {
    box.begin[d] = random() % shape[d];
    box.count[d] = random() % (shape[d] - box.begin[d] + 1);
  }
  return box;
}

TEST(Cover, EachElementComesFromTheLastBlockThatHasIt) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const Shape shape = round % 3 == 0 ? Shape{11} : round % 3 == 1 ? Shape{7, 6} : Shape{4, 5, 6};
    std::vector<Box> places(random() % 9);
    for (Box& place : places) place = random_box(random, shape);
    if (places.size() > 2) places.push_back(places[1]);
    const BlockIndex index(places);
    const Box box = random_box(random, shape);
    const auto covered = cover(index, box);
    ASSERT_TRUE(covered);
    std::vector<int> source(element_count(shape), -1);
    uint64_t given = 0;
    for (const Share& share : covered->shares)
      for_each_index(share.box.count, [&](const Shape& offset) {
        Shape at = share.box.begin;
        for (size_t d = 0; d < at.size(); ++d) at[d] += offset[d];
        int& from = source[place_in(shape, at)];
        ASSERT_EQ(from, -1);
        from = static_cast<int>(share.block);
        ++given;
      });
    EXPECT_EQ(given + covered->holes, volume(box));
    for_each_index(box.count, [&](const Shape& offset) {
      Shape at = box.begin;
      for (size_t d = 0; d < at.size(); ++d) at[d] += offset[d];
      int last = -1;
      for (size_t i = 0; i < places.size(); ++i)
        if (!is_empty(intersection(places[i], Box{at, Shape(at.size(), 1)}))) last = static_cast<int>(i);
      EXPECT_EQ(source[place_in(shape, at)], last);
      EXPECT_EQ(index.covering(at), last < 0 ? std::nullopt : std::optional(static_cast<size_t>(last)));
    });
  }
}

TEST(Cover, ManyBlocksAreFoundQuickly) {
  std::vector<Box> places;
  for (uint64_t z = 0; z < 40; ++z)
    for (uint64_t y = 0; y < 40; ++y)
      for (uint64_t x = 0; x < 40; ++x) places.push_back({{z * 8, y * 8, x * 8}, {8, 8, 8}});
  const BlockIndex index(places);
  EXPECT_THAT(index.touching({{7, 7, 7}, {2, 2, 2}}), testing::SizeIs(8));
  const auto all = cover(index, {{0, 0, 0}, {320, 320, 320}});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->shares.size(), places.size());
  EXPECT_EQ(all->holes, 0u);
}

TEST(Cover, WhatEveryRankWroteIsTakenFromTheLastOne) {
  const auto all = cover(BlockIndex(std::vector<Box>(100000, Box{{0, 0}, {4, 4}})), {{1, 1}, {2, 2}});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->shares.size(), 1u);
  EXPECT_EQ(all->shares[0].block, 99999u);
}

TEST(Cover, RefusesOverlapsThatWouldTakeForEver) {
  std::vector<Box> places;
  for (uint64_t i = 0; i < 200; ++i) places.push_back({{i, 0}, {1000, 10 + i}});
  const auto all = cover(BlockIndex(places), {{0, 0}, {1200, 300}}, 1000);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().kind, ErrorKind::limit);
}

}  // namespace
}  // namespace forebay::view
