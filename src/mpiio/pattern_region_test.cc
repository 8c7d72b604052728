#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "mpiio/pattern_model.h"

namespace forebay::lock::mpiio {
namespace {

std::set<int64_t> bytes_of(const Region& region) {
  std::set<int64_t> bytes;
  Result<Region> pieces = expanded(region, 1'000'000);
  EXPECT_TRUE(pieces);
  for (const Term& term : pieces->terms())
    for (uint64_t i = 0; i < term.length; ++i) bytes.insert(static_cast<int64_t>(term.start + i));
  return bytes;
}

TEST(RegionOf, HasTheBytesOfThePattern) {
  PatternMaker maker(3);
  for (int i = 0; i < 2000; ++i) {
    Modelled made = maker.make(static_cast<int>(maker.number(0, 4)), maker.number(0, 1));
    int64_t most = static_cast<int64_t>(made.bytes.size()) * 3 + 2, origin = 2000;
    uint64_t begin = static_cast<uint64_t>(maker.number(0, most)), end = static_cast<uint64_t>(maker.number(0, most));
    std::vector<int64_t> bytes = model_bytes(made, origin, begin, end);
    if (!bytes.empty()) origin += std::max<int64_t>(0, -*std::ranges::min_element(bytes));
    bytes = model_bytes(made, origin, begin, end);
    Result<Region> region = region_of(made.pattern, origin, begin, end);
    ASSERT_TRUE(region) << region.error().message();
    ASSERT_EQ(bytes_of(*region), std::set<int64_t>(bytes.begin(), bytes.end())) << i;
  }
}

TEST(RegionOf, LoopsBecomeLevels) {
  Pattern row = *Pattern::loop(1000, 64, Pattern::bytes(8), 0, 64'000);
  Pattern plane = *Pattern::loop(1000, 100'000, row, 0, 100'000'000);
  Pattern cube = *Pattern::loop(1000, 200'000'000, plane, 0, 200'000'000'000);
  Region whole = *region_of(cube, 0, 0, cube.size());
  EXPECT_EQ(whole.terms().size(), 1u);
  EXPECT_EQ(whole.segment_count(), 1'000'000'000u);
  Region ragged = *region_of(cube, 0, 5, 3 * cube.size() - 5);
  EXPECT_LE(ragged.terms().size(), 15u);
  EXPECT_EQ(ragged.segment_count(), 3'000'000'000u);
}

TEST(RegionOf, AFiletypeThatShowsEverythingIsOneExtent) {
  Region region = *region_of(Pattern::bytes(8), 100, 3, 1'000'003);
  ASSERT_EQ(region.terms().size(), 1u);
  EXPECT_EQ(region.bounds(), (Extent{103, 1'000'103}));
}

TEST(RegionOf, DeeperThanARegionMayBeIsUnrolled) {
  Pattern pattern = Pattern::bytes(1);
  int64_t stride = 3;
  for (int level = 0; level < 11; ++level, stride *= 3) pattern = *Pattern::loop(2, stride, pattern, 0, 3 * stride);
  Region region = *region_of(pattern, 0, 0, pattern.size());
  EXPECT_EQ(region.terms().size(), 8u);
  EXPECT_EQ(region.segment_count(), 2048u);
}

TEST(RegionOf, NegativeOffsetsAreAnError) {
  EXPECT_EQ(region_of(Pattern::bytes(8), -1, 0, 8).error().kind, ErrorKind::invalid_argument);
  EXPECT_TRUE(region_of(Pattern::bytes(8), -1, 1, 8));
  EXPECT_EQ(region_of(Pattern::bytes(8), INT64_MAX - 8, 0, 9).error().kind, ErrorKind::invalid_argument);
  EXPECT_TRUE(region_of(Pattern::bytes(8), INT64_MAX - 9, 0, 9));
  Pattern far = Pattern::bytes(8).resized(0, INT64_MAX);
  EXPECT_EQ(region_of(far, 0, 0, 1000).error().kind, ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace forebay::lock::mpiio
