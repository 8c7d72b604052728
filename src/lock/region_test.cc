#include "lock/region.h"

#include <gmock/gmock.h>

#include "lock/region_samples.h"

namespace forebay::lock {
namespace {

using samples::pick;
using samples::Random;
using samples::Raw;
using ::testing::ElementsAre;

constexpr uint64_t kHuge = uint64_t{1} << 62;

// The one term of a region made of one.
Raw normal(const Raw& raw) {
  const Region region = samples::region_of({raw});
  EXPECT_EQ(region.terms().size(), 1u);
  return samples::raw_of(region, region.terms()[0]);
}

ErrorKind error_of(const Raw& raw) {
  Region region;
  region.add(7, 3).value();
  const auto added = region.add(raw.start, raw.length, raw.levels);
  // What fails leaves no trace.
  EXPECT_EQ(region.bounds(), (Extent{7, 10}));
  EXPECT_EQ(region.terms().size(), 1u);
  return added ? ErrorKind::internal : added.error().kind;
}

TEST(Region, StartsEmpty) {
  const Region region;
  EXPECT_TRUE(region.empty());
  EXPECT_TRUE(region.ordered());
  EXPECT_EQ(region.bounds(), (Extent{0, 0}));
  EXPECT_EQ(region.segment_count(), 0u);
}

TEST(Region, LeavesOutWhatHasNoBytes) {
  Region region;
  const Level none{0, kHuge};
  EXPECT_TRUE(region.add(5, 0));
  EXPECT_TRUE(region.add(UINT64_MAX, 7, std::span(&none, 1)));
  EXPECT_TRUE(region.empty());
}

TEST(Region, DropsLevelsThatRepeatNothing) { EXPECT_TRUE(normal({3, 4, {{1, 100}, {1, 0}, {9, 0}}}).levels.empty()); }

TEST(Region, FoldsLevelsIntoTheLength) {
  const Raw row = normal({0, 8, {{10, 8}}});
  EXPECT_EQ(row.length, 80u);
  EXPECT_TRUE(row.levels.empty());
  const Raw plane = normal({0, 8, {{5, 100}, {10, 10}, {3, 1}}});
  EXPECT_EQ(plane.length, 500u);
  EXPECT_TRUE(plane.levels.empty());
}

TEST(Region, JoinsLevelsThatContinueEachOther) {
  EXPECT_THAT(normal({0, 1, {{6, 40}, {4, 10}}}).levels, ElementsAre(Level{24, 10}));
  EXPECT_THAT(normal({0, 1, {{3, 20}, {4, 10}}}).levels, ElementsAre(Level{8, 10}));
  EXPECT_THAT(normal({0, 1, {{6, 50}, {4, 10}}}).levels, ElementsAre(Level{6, 50}, Level{4, 10}));
}

TEST(Region, OrdersLevelsByStride) {
  EXPECT_THAT(normal({0, 1, {{6, 5}, {4, 100}}}).levels, ElementsAre(Level{4, 100}, Level{6, 5}));
}

TEST(Region, InNormalFormHasTheSameBytes) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const Raw raw = seed % 2 ? samples::random_raw(random, 50, 4, 20) : samples::random_nested(random, 50, 4);
    std::set<uint64_t> bytes;
    samples::put_bytes(bytes, raw);
    const Raw form = normal(raw);
    std::set<uint64_t> same;
    samples::put_bytes(same, form);
    ASSERT_EQ(same, bytes) << "seed " << seed;
    uint64_t above = UINT64_MAX;
    for (const Level& level : form.levels) {
      ASSERT_GE(level.count, 2u);
      ASSERT_GT(level.stride, form.length);
      ASSERT_LT(level.stride, above);
      above = level.stride;
    }
    const Region region = samples::region_of({raw});
    ASSERT_EQ(region.bounds(), (Extent{*bytes.begin(), *bytes.rbegin() + 1}));
  }
}

TEST(Region, RefusesWhatLiesBeyondTheFile) {
  EXPECT_EQ(error_of({kFileEnd, 1, {}}), ErrorKind::invalid_argument);
  EXPECT_EQ(error_of({UINT64_MAX, 2, {}}), ErrorKind::invalid_argument);
  EXPECT_EQ(error_of({1, kFileEnd, {}}), ErrorKind::invalid_argument);
  EXPECT_EQ(error_of({0, 1, {{kHuge, 4}}}), ErrorKind::invalid_argument);
  EXPECT_EQ(error_of({0, 1, {{3, kHuge}}}), ErrorKind::invalid_argument);
  EXPECT_EQ(error_of({0, 1, {{UINT64_MAX, UINT64_MAX}}}), ErrorKind::invalid_argument);
  EXPECT_EQ(error_of({0, 1, {{2, kHuge}, {2, kHuge}}}), ErrorKind::invalid_argument);
  EXPECT_EQ(error_of({0, 2, {{2, kFileEnd - 1}}}), ErrorKind::invalid_argument);
}

TEST(Region, ReachesTheEndOfTheFile) {
  EXPECT_EQ(samples::region_of({{0, 1, {{2, kFileEnd - 1}}}}).bounds(), (Extent{0, kFileEnd}));
  EXPECT_EQ(Region::whole_file().bounds(), (Extent{0, kFileEnd}));
  EXPECT_EQ(Region::whole_file().segment_count(), 1u);
}

TEST(Region, RefusesTooManyLevels) {
  Raw raw{0, 1, {}};
  for (uint64_t stride = 3; raw.levels.size() < kMaxLevels; stride *= 5) raw.levels.push_back({2, stride});
  EXPECT_EQ(normal(raw).levels.size(), kMaxLevels);
  raw.levels.push_back({2, 2});
  EXPECT_EQ(error_of(raw), ErrorKind::invalid_argument);
  // But levels that fold away do not count.
  raw.levels.back() = {2, 1};
  EXPECT_EQ(normal(raw).levels.size(), kMaxLevels);
}

TEST(Region, CountsSegments) {
  EXPECT_EQ(samples::region_of({{0, 1, {{6, 50}, {4, 10}}}, {1000, 5, {}}}).segment_count(), 25u);
  const Raw many{0, 1, {{uint64_t{1} << 30, uint64_t{1} << 32}, {uint64_t{1} << 31, 2}}};
  EXPECT_EQ(samples::region_of({many}).segment_count(), uint64_t{1} << 61);
  EXPECT_EQ(samples::region_of(std::vector<Raw>(9, many)).segment_count(), UINT64_MAX);
}

TEST(Region, SharesEqualLevels) {
  Region region;
  const Level level{10, 100};
  for (uint64_t i = 0; i < 1000; ++i) region.add(i * 1000, 8, std::span(&level, 1)).value();
  EXPECT_LE(region.memory(), 1024 * sizeof(Term) + 2 * sizeof(Level));
}

TEST(Region, KnowsWhetherItIsOrdered) {
  Region region;
  region.add(0, 10).value();
  region.add(10, 10).value();
  EXPECT_TRUE(region.ordered());
  region.add(5, 1).value();
  EXPECT_FALSE(region.ordered());
  region.sort();
  EXPECT_FALSE(region.ordered());
  Region backwards = samples::region_of({{20, 10, {}}, {10, 10, {}}, {0, 10, {}}});
  EXPECT_FALSE(backwards.ordered());
  const auto bytes = samples::bytes_of(backwards);
  backwards.sort();
  EXPECT_TRUE(backwards.ordered());
  EXPECT_EQ(samples::bytes_of(backwards), bytes);
  EXPECT_EQ(backwards.bounds(), (Extent{0, 30}));
}

TEST(Region, BecomesCoarser) {
  const Region region = samples::region_of({{40, 1, {{6, 50}, {4, 10}}}, {7, 5, {}}});
  EXPECT_EQ(samples::bytes_of(coarsened(region, Granularity::list)), samples::bytes_of(region));
  const Region range = coarsened(region, Granularity::range);
  EXPECT_EQ(range.segment_count(), 1u);
  EXPECT_EQ(range.bounds(), region.bounds());
  EXPECT_EQ(coarsened(region, Granularity::file).bounds(), Region::whole_file().bounds());
  EXPECT_TRUE(coarsened(Region(), Granularity::file).empty());
}

}  // namespace
}  // namespace forebay::lock
