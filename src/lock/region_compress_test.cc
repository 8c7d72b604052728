#include <algorithm>

#include <gtest/gtest.h>

#include "lock/region_samples.h"

namespace forebay::lock {
namespace {

using samples::pick;
using samples::Random;
using samples::Raw;

constexpr uint64_t kMany = uint64_t{1} << 24;

std::vector<Extent> segments_of(const Region& region) {
  const Region list = expanded(region, kMany).value();
  std::vector<Extent> segments;
  for (const Term& term : list.terms()) segments.push_back(bounds_of(list, term));
  return segments;
}

TEST(Expanded, HasATermForEachSegment) {
  const Region list = expanded(samples::region_of({{5, 2, {{2, 100}, {3, 10}}}, {1000, 7, {}}}), 7).value();
  std::vector<uint64_t> starts;
  for (const Term& term : list.terms()) {
    EXPECT_EQ(term.level_count, 0u);
    starts.push_back(term.start);
  }
  EXPECT_EQ(starts, (std::vector<uint64_t>{5, 15, 25, 105, 115, 125, 1000}));
}

TEST(Expanded, RefusesMoreThanItMayTake) {
  const Region region = samples::region_of({{0, 1, {{uint64_t{1} << 62, 2}}}});
  EXPECT_EQ(expanded(region, kMany).error().kind, ErrorKind::limit);
  EXPECT_EQ(expanded(samples::region_of({{0, 1, {{8, 2}}}}), 7).error().kind, ErrorKind::limit);
}

TEST(Compressed, FindsABlockOfAnArray) {
  const Region block = samples::region_of({{8 * 12345, 8 * 10, {{7, 8 * 100 * 100}, {11, 8 * 100}}}});
  const Region again = compressed(segments_of(block)).value();
  ASSERT_EQ(again.terms().size(), 1u);
  EXPECT_EQ(samples::bytes_of(again), samples::bytes_of(block));
}

TEST(Compressed, FindsBlocksOfTwo) {
  const Region block = samples::region_of({{0, 4, {{2, 1000}, {2, 100}, {2, 10}}}});
  EXPECT_EQ(compressed(segments_of(block)).value().terms().size(), 1u);
}

// FLASH: for each of 24 variables 80 blocks of 8 x 8 x 8 cells, each within a guard of 4 cells.
TEST(Compressed, FindsTheBlocksOfFlash) {
  const Region blocks = samples::region_of(
      {{8 * (4 * 16 * 16 + 4 * 16 + 4), 64, {{24 * 80, 8 * 16 * 16 * 16}, {8, 8 * 16 * 16}, {8, 8 * 16}}}});
  const std::vector<Extent> segments = segments_of(blocks);
  ASSERT_EQ(segments.size(), 24u * 80 * 64);
  const Region again = compressed(segments).value();
  EXPECT_EQ(again.terms().size(), 1u);
  EXPECT_EQ(segments_of(again), segments);
}

TEST(Compressed, StartsAgainWhereAPatternDoes) {
  // One segment, then two combs, of which a greedy pairing would tear the first element off each.
  std::vector<Extent> segments = {{0, 1}};
  for (uint64_t comb : {50, 300})
    for (uint64_t i = 0; i < 10; ++i) segments.push_back({comb + 10 * i, comb + 10 * i + 1});
  const Region region = compressed(segments).value();
  EXPECT_LE(region.terms().size(), 2u);
  EXPECT_EQ(region.segment_count(), 21u);
}

TEST(Compressed, JoinsWhatTouchesAndLeavesOutWhatIsEmpty) {
  const std::vector<Extent> segments = {{5, 5}, {10, 20}, {20, 25}, {7, 7}, {25, 30}};
  const Region region = compressed(segments).value();
  ASSERT_EQ(region.terms().size(), 1u);
  EXPECT_EQ(region.bounds(), (Extent{10, 30}));
  EXPECT_EQ(region.segment_count(), 1u);
  EXPECT_TRUE(compressed({}).value().empty());
}

TEST(Compressed, RefusesWhatLiesBeyondTheFile) {
  const std::vector<Extent> segments = {{5, 6}, {kFileEnd, kFileEnd + 1}};
  EXPECT_EQ(compressed(segments).error().kind, ErrorKind::invalid_argument);
}

TEST(Compressed, HasTheSameBytes) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    std::vector<Extent> segments;
    std::set<uint64_t> bytes;
    for (uint64_t parts = pick(random, 1, 6); parts > 0; --parts) {
      const Raw raw = samples::random_nested(random, 2000, 3);
      samples::put_bytes(bytes, raw);
      for (const Extent& segment : segments_of(samples::region_of({raw}))) segments.push_back(segment);
    }
    // As they come, in order, or backwards.
    const auto before = [](const Extent& a, const Extent& b) { return a.first < b.first; };
    if (seed % 3 == 1) std::ranges::sort(segments, before);
    if (seed % 3 == 2) std::ranges::reverse(segments);
    const Region region = compressed(segments).value();
    ASSERT_EQ(samples::bytes_of(region), bytes) << "seed " << seed;
    ASSERT_LE(region.terms().size(), segments.size());
  }
}

}  // namespace
}  // namespace forebay::lock
