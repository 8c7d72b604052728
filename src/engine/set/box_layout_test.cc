#include "engine/set/box_layout.h"

#include <numeric>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "engine/set/test_boxes.h"

namespace forebay::engine {
namespace {

TEST(BlockCount, CoversTheArray) {
  EXPECT_EQ(block_count({}, {}), 1u);
  EXPECT_EQ(block_count({10, 10}, {4, 5}), 6u);
  EXPECT_EQ(block_count({10, 0}, {4, 5}), 0u);
  EXPECT_EQ(block_count({UINT64_MAX, UINT64_MAX}, {1, 1}), UINT64_MAX);
}

// Boxes of random arrays in random blocks, read in pieces of random length, against a loop over coordinates.
TEST(BoxLayout, PutsEveryElementInItsPlace) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const TestArray array = random_array(random);
    const Box box = random_box(random, array.shape);
    const auto layout = BoxLayout::make(array.shape, array.block, array.element_bytes, box);
    ASSERT_TRUE(layout.has_value()) << layout.error().message();
    const std::vector<uint64_t> expected = places_of(array, box);  // among the stored bytes, per byte of the box
    ASSERT_EQ(layout->bytes(), expected.size());
    std::vector<uint64_t> actual(expected.size(), UINT64_MAX);
    for (uint64_t begin = 0; begin < layout->stored_bytes();) {
      const uint64_t end = std::min<uint64_t>(begin + 1 + random() % 50, layout->stored_bytes());
      uint64_t last = begin;
      layout->for_each_run(begin, end, [&](uint64_t stored, uint64_t target, uint64_t length) {
        ASSERT_GE(stored, last);
        last = stored + length;
        ASSERT_LE(last, end);
        ASSERT_LE(target + length, actual.size());
        for (uint64_t i = 0; i < length; ++i) actual[target + i] = stored + i;
      });
      begin = end;
    }
    ASSERT_EQ(actual, expected);
  }
}

TEST(BoxLayout, FindsTheNextByteOfTheBox) {
  std::mt19937 random(8);
  for (int round = 0; round < 200; ++round) {
    const TestArray array = random_array(random);
    const Box box = random_box(random, array.shape);
    const auto layout = BoxLayout::make(array.shape, array.block, array.element_bytes, box);
    ASSERT_TRUE(layout.has_value());
    std::vector<uint64_t> places = places_of(array, box);
    std::ranges::sort(places);
    for (uint64_t stored = 0; stored < layout->stored_bytes() + 2; ++stored) {
      const auto expected = std::ranges::lower_bound(places, stored);
      ASSERT_EQ(layout->next(stored), expected == places.end() ? std::nullopt : std::optional(*expected));
    }
    EXPECT_EQ(layout->next(UINT64_MAX), std::nullopt);
  }
}

TEST(BoxLayout, TakesAWholeArrayInOneRun) {
  const Shape shape = {30, 40, 50};
  const auto layout = BoxLayout::make(shape, shape, 8, whole_box(shape));
  ASSERT_TRUE(layout.has_value());
  int runs = 0;
  layout->for_each_run(3, 479'999, [&](uint64_t stored, uint64_t target, uint64_t length) {
    ++runs;
    EXPECT_EQ(stored, 3u);
    EXPECT_EQ(target, 3u);
    EXPECT_EQ(length, 479'996u);
  });
  EXPECT_EQ(runs, 1);
}

TEST(BoxLayout, RefusesWhatIsNotInTheArray) {
  const Shape shape = {10, 20}, block = {4, 20};
  const auto refusal = [&](const Box& box) {
    const auto layout = BoxLayout::make(shape, block, 4, box);
    return layout ? std::string() : layout.error().what;
  };
  EXPECT_EQ(refusal({{0, 0}, {10, 20}}), "");
  EXPECT_NE(refusal({{0}, {10}}).find("1 dimensions, and the array has 2"), std::string::npos);
  EXPECT_NE(refusal({{0, 0}, {10}}), "");
  EXPECT_NE(refusal({{0, 0}, {0, 20}}).find("dimension 0"), std::string::npos);
  EXPECT_NE(refusal({{0, 1}, {10, 20}}).find("dimension 1"), std::string::npos);
  EXPECT_NE(refusal({{11, 0}, {1, 1}}), "");
  EXPECT_NE(refusal({{UINT64_MAX, 0}, {UINT64_MAX, 1}}), "");
  EXPECT_NE(refusal({{5, 0}, {UINT64_MAX, 1}}), "");
  for (const auto& [huge, kind] :
       {std::pair{Shape{uint64_t{1} << 62, 2}, ErrorKind::limit}, {Shape{UINT64_MAX, UINT64_MAX}, ErrorKind::limit}}) {
    const auto layout = BoxLayout::make(huge, huge, 8, {{0, 0}, {1, 1}});
    ASSERT_FALSE(layout.has_value());
    EXPECT_EQ(layout.error().kind, kind);
  }
  EXPECT_FALSE(BoxLayout::make(shape, {0, 20}, 4, {{0, 0}, {1, 1}}).has_value());
}

TEST(BoxLayout, ReachesTheEndOfTheLargestArrays) {
  const Shape shape = {uint64_t{1} << 31, uint64_t{1} << 32};
  const auto layout = BoxLayout::make(shape, shape, 1, {{shape[0] - 1, shape[1] - 3}, {1, 2}});
  ASSERT_TRUE(layout.has_value()) << layout.error().message();
  EXPECT_EQ(layout->next(0), (uint64_t{1} << 63) - 3);
  EXPECT_EQ(layout->next((uint64_t{1} << 63) - 1), std::nullopt);
}

TEST(Slabs, FollowEachOtherAndKeepToTheirSize) {
  std::mt19937 random(9);
  for (int round = 0; round < 1000; ++round) {
    const TestArray array = random_array(random);
    const Box box = random_box(random, array.shape);
    const uint64_t most = 1 + random() % 200;
    Slabs slabs(box, array.block, array.element_bytes, most);
    std::vector<uint64_t> joined;
    while (const auto slab = slabs.next()) {
      const std::vector<uint64_t> places = places_of(array, *slab);
      ASSERT_LE(places.size(), std::max(most, array.element_bytes));
      ASSERT_GT(places.size(), 0u);
      joined.insert(joined.end(), places.begin(), places.end());
    }
    ASSERT_EQ(joined, places_of(array, box));
    EXPECT_FALSE(slabs.next().has_value());
  }
}

TEST(Slabs, EndWhereBlocksDo) {
  Slabs slabs(whole_box({10, 100}), {4, 10}, 1, 700);
  EXPECT_EQ(slabs.next()->count, (Shape{4, 100}));
  EXPECT_EQ(slabs.next()->count, (Shape{6, 100})) << "to the end of the box";
  EXPECT_FALSE(slabs.next().has_value());
}

}  // namespace
}  // namespace forebay::engine
