#include "lock/overlap.h"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "lock/region_samples.h"
#include "lock/term_overlap.h"

namespace forebay::lock {
namespace {

using samples::pick;
using samples::Random;
using samples::Raw;

constexpr uint64_t kBig = uint64_t{1} << 62;

Region region(const Raw& raw) { return samples::region_of({raw}); }

bool overlap_both_ways(const Region& a, const Region& b) {
  const bool answer = overlap(a, b);
  EXPECT_EQ(overlap(b, a), answer);
  return answer;
}

bool share_a_byte(const Region& a, const Region& b) {
  const auto bytes = samples::bytes_of(b);
  return std::ranges::any_of(samples::bytes_of(a), [&](uint64_t byte) { return bytes.contains(byte); });
}

TEST(Overlap, NeedsACommonByte) {
  EXPECT_FALSE(overlap_both_ways(Region(), Region::whole_file()));
  EXPECT_FALSE(overlap_both_ways(region({0, 10}), region({10, 10})));
  EXPECT_TRUE(overlap_both_ways(region({0, 11}), region({10, 10})));
  EXPECT_TRUE(overlap_both_ways(region({kFileEnd - 1, 1}), Region::whole_file()));
}

TEST(Overlap, FindsGapsBetweenBlocks) {
  const Region comb = region({100, 4, {{10, 16}}});
  EXPECT_FALSE(overlap_both_ways(comb, region({104, 12})));
  EXPECT_TRUE(overlap_both_ways(comb, region({104, 13})));
  EXPECT_FALSE(overlap_both_ways(comb, region({104, 12, {{9, 16}}})));
  EXPECT_FALSE(overlap_both_ways(comb, region({104, 4, {{3, 32}}})));
  EXPECT_TRUE(overlap_both_ways(comb, region({104, 4, {{3, 30}}})));
}

// Three-dimensional blocks of one array: any two ranks' are apart, and neighbours with ghost cells are not.
TEST(Overlap, TellsBlocksOfAnArrayApart) {
  constexpr uint64_t kSide = 1024, kBlock = 256;
  const auto block = [](uint64_t x, uint64_t y, uint64_t z, uint64_t ghosts) {
    const uint64_t side = kBlock + ghosts;
    return region(
        {8 * ((z * kSide + y) * kSide + x) * kBlock, 8 * side, {{side, 8 * kSide * kSide}, {side, 8 * kSide}}});
  };
  const Region middle = block(1, 1, 1, 0);
  for (uint64_t x = 0; x < 3; ++x)
    for (uint64_t y = 0; y < 3; ++y)
      for (uint64_t z = 0; z < 3; ++z) {
        EXPECT_EQ(overlap_both_ways(middle, block(x, y, z, 0)), x == 1 && y == 1 && z == 1);
        EXPECT_EQ(overlap_both_ways(middle, block(x, y, z, 1)), x <= 1 && y <= 1 && z <= 1);
      }
}

void compare_random_terms(const std::function<Raw(Random&)>& draw, uint64_t seeds) {
  uint64_t met = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    Random random(seed);
    const Region a = region(draw(random)), b = region(draw(random));
    const bool expected = share_a_byte(a, b);
    met += expected;
    ASSERT_EQ(overlap_both_ways(a, b), expected) << "seed " << seed;
  }
  // Both answers occur.
  EXPECT_GT(met, seeds / 20);
  EXPECT_LT(met, seeds - seeds / 20);
}

TEST(Overlap, OfNestedTermsIsThatOfTheirBytes) {
  compare_random_terms([](Random& random) { return samples::random_nested(random, pick(random, 0, 200), 4); }, 4000);
}

TEST(Overlap, OfInterleavingTermsIsThatOfTheirBytes) {
  compare_random_terms([](Random& random) { return samples::random_raw(random, 60, 3, 12); }, 4000);
  compare_random_terms([](Random& random) { return samples::random_raw(random, 200, 3, 70); }, 4000);
}

// Lists of each kind: ordered, unordered, of long boxes and of short ones.
TEST(Overlap, OfListsIsThatOfTheirBytes) {
  uint64_t met = 0;
  constexpr uint64_t kSeeds = 4000;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const auto draw = [&] {
      std::vector<Raw> raws;
      const uint64_t kind = pick(random, 0, 2);
      uint64_t at = pick(random, 0, 100);
      for (uint64_t count = pick(random, 1, 12); count > 0; --count) {
        if (kind == 0) raws.push_back(samples::random_nested(random, 600, 2));
        if (kind == 1) raws.push_back({pick(random, 0, 600), pick(random, 1, 6), {}});
        if (kind == 2) raws.push_back({at += pick(random, 6, 80), pick(random, 1, 6), {}});
      }
      Region list = samples::region_of(raws);
      if (pick(random, 0, 1) == 0) list.sort();
      return list;
    };
    const Region a = draw(), b = draw();
    const bool expected = share_a_byte(a, b);
    met += expected;
    ASSERT_EQ(overlap_both_ways(a, b), expected) << "seed " << seed;
  }
  EXPECT_GT(met, kSeeds / 10);
  EXPECT_LT(met, kSeeds - kSeeds / 10);
}

TEST(Overlap, OfHugeNestedTermsIsExact) {
  const Region even = region({0, 1, {{kBig, 2}}});
  EXPECT_FALSE(overlap_both_ways(even, region({1, 1, {{kBig - 1, 2}}})));
  EXPECT_TRUE(overlap_both_ways(even, region({1, 2, {{kBig / 2 - 1, 4}}})));
  // Residues apart modulo 3, whatever else the levels do.
  const Region a = region({0, 1, {{1u << 20, 3u << 30}, {1u << 10, 3 * 1001}, {300, 3}}});
  EXPECT_FALSE(overlap_both_ways(a, region({1, 2, {{1u << 19, 3 * 7919ull * 104729}, {50, 3 * 997}, {20, 9}}})));
  EXPECT_FALSE(overlap_both_ways(region({kFileEnd - 1, 1}), region({0, 1, {{kBig - 1, 2}}})));
  EXPECT_TRUE(overlap_both_ways(region({kFileEnd - 1, 1}), region({0, 1, {{kBig, 2}}})));
}

// Coprime strides: the k-th blocks on which they meet follow from the Chinese remainder theorem.
TEST(Overlap, OfCoprimeStridesIsExact) {
  constexpr uint64_t kP = 1'000'003, kQ = 998'244'353;
  const Region a = region({0, 1, {{kFileEnd / kQ, kQ}}});
  // kP * i = kQ * j + 1 for the first time at this i.
  uint64_t i = first_hit(kQ - 1, kP, kQ, 1);
  ASSERT_EQ(kP * i % kQ, 1u);
  ASSERT_LT(i, kQ);
  const auto walk = [&](uint64_t count) { return region({kQ - 1, 1, {{count, kP}}}); };
  EXPECT_FALSE(overlap_both_ways(a, walk(i)));
  EXPECT_TRUE(overlap_both_ways(a, walk(i + 1)));
}

TEST(Overlap, OfHugeTermsAgreesWithOneModulo) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    // One long comb against a few points: for each, one division tells.
    const uint64_t stride = pick(random, 2, uint64_t{1} << pick(random, 2, 50));
    const uint64_t length = pick(random, 1, stride - 1), start = pick(random, 0, kBig);
    const uint64_t count = pick(random, 2, (kFileEnd - start - length) / stride + 1);
    const Region comb = region({start, length, {{count, stride}}});
    Region points;
    bool expected = false;
    const uint64_t gap = pick(random, 2, kBig / 8), first = pick(random, 0, kBig), many = pick(random, 1, 8);
    for (uint64_t i = 0; i < many; ++i) {
      const uint64_t at = first + i * gap;
      expected = expected || (at >= start && (at - start) / stride < count && (at - start) % stride < length);
    }
    const Level level{many, gap};
    points.add(first, 1, std::span(&level, 1)).value();
    ASSERT_EQ(overlap_both_ways(comb, points), expected) << "seed " << seed;
  }
}

// Terms all over the file, of which two segments just touch or just overlap: as terms, and as lists of segments.
TEST(Overlap, OfTermsIsThatOfTheirSegments) {
  constexpr uint64_t kSeeds = 1500;
  uint64_t met = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Random random(seed);
    const uint64_t unit = pick(random, 1, uint64_t{1} << 40);
    const auto draw = [&] {
      Raw raw{0, pick(random, 1, 2 * unit), {}};
      for (size_t levels = pick(random, 0, 3); levels > 0; --levels) {
        const uint64_t stride = pick(random, 0, 2) ? unit * pick(random, 1, 200) : pick(random, 1, 200 * unit);
        raw.levels.push_back({pick(random, 2, 7), stride});
      }
      return raw;
    };
    const auto some_segment = [&](const Raw& raw) {
      uint64_t at = 0;
      for (const Level& level : raw.levels) at += pick(random, 0, level.count - 1) * level.stride;
      return at;
    };
    Raw a = draw(), b = draw();
    a.start = b.start = kBig;
    a.start += some_segment(b);
    b.start += some_segment(a) + a.length - pick(random, 0, 1);
    const Region lists[] = {expanded(region(a), 1000).value(), expanded(region(b), 1000).value()};
    const bool expected = overlap_both_ways(lists[0], lists[1]);
    met += expected;
    ASSERT_EQ(overlap_both_ways(region(a), region(b)), expected) << "seed " << seed;
    ASSERT_EQ(overlap_both_ways(lists[0], region(b)), expected) << "seed " << seed;
  }
  EXPECT_GT(met, kSeeds / 4);
  EXPECT_LT(met, kSeeds - kSeeds / 20);
}

TEST(Overlap, ComparesManyTermsFast) {
  constexpr uint64_t kTerms = 50'000;
  Region even, odd, tangled, other;
  for (uint64_t i = 0; i < kTerms; ++i) {
    even.add(20 * i, 10).value();
    odd.add(20 * i + 10, 10).value();
    // Scattered, and each box reaches over the next ones.
    const uint64_t at = i * 7919 % kTerms;
    const Level level{2, 40};
    tangled.add(20 * at, 5, std::span(&level, 1)).value();
    other.add(20 * at + 5, 5, std::span(&level, 1)).value();
  }
  EXPECT_TRUE(even.ordered());
  EXPECT_FALSE(tangled.ordered());
  const auto effort_of = [](const Region& a, const Region& b) {
    uint64_t effort = uint64_t{1} << 40;
    EXPECT_FALSE(overlap(a, b, effort));
    return (uint64_t{1} << 40) - effort;
  };
  EXPECT_LT(effort_of(even, odd), 3 * kTerms);
  EXPECT_LT(effort_of(region({10, 10, {{kTerms, 20}}}), even), 5 * kTerms);
  EXPECT_LT(effort_of(region({30, 10}), even), 10u);
  EXPECT_LT(effort_of(tangled, other), 100 * kTerms);
}

// Pairs of bytes around the segments of the other term, at a phase of its own each time.
TEST(Overlap, GivesUpAfterManyPhases) {
  const Region segments = region({1'200'000, 500'000, {{600'000, 10'000'000}}});
  const auto pairs = [](uint64_t count) { return region({0, 1, {{count, 10'000'001}, {2, 2'000'000}}}); };
  EXPECT_FALSE(overlap_both_ways(segments, pairs(60'000)));
  uint64_t effort = uint64_t{1} << 30;
  EXPECT_TRUE(overlap(segments, pairs(500'000), effort));
  EXPECT_GE(effort, (uint64_t{1} << 30) - kTermEffort - 2);
  effort = 1000;
  EXPECT_TRUE(overlap(segments, pairs(60'000), effort));
  EXPECT_EQ(effort, 0u);
}

TEST(Overlap, TakesNoLongerForInterleavingTerms) {
  const Region even = region({0, 1, {{uint64_t{1} << 30, 1u << 20}, {uint64_t{1} << 30, (1u << 20) - 2}}});
  EXPECT_FALSE(overlap_both_ways(even, region({1, 1, {{uint64_t{1} << 40, 2}}})));
  uint64_t effort = uint64_t{1} << 30;
  overlap(even, region({1, 2, {{uint64_t{1} << 40, 7'000'003}, {1u << 20, 4}}}), effort);
  EXPECT_GE(effort, (uint64_t{1} << 30) - kTermEffort - 2);
}

TEST(FirstHit, IsTheLeastOne) {
  for (uint64_t modulus = 1; modulus < 14; ++modulus)
    for (uint64_t first = 0; first < modulus; ++first)
      for (uint64_t step = 0; step < modulus; ++step)
        for (uint64_t window = 0; window <= modulus; ++window) {
          uint64_t k = 0;
          while (k < modulus && (first + k * step) % modulus >= window) ++k;
          ASSERT_EQ(first_hit(first, step, modulus, window), k < modulus ? k : UINT64_MAX)
              << first << " " << step << " " << modulus << " " << window;
        }
}

}  // namespace
}  // namespace forebay::lock
