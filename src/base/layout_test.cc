#include "base/layout.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace forebay {
namespace {

constexpr DataType kF4{Kind::floating, ByteOrder::little, 4};
constexpr uint64_t kFileBytes = 1000;

Variable contiguous(uint64_t offset, uint64_t elements) {
  return {.path = "/v", .type = kF4, .shape = {elements}, .block = {}, .extents = {{offset, 4 * elements}}};
}

Variable blocked(Shape shape, Shape block, std::vector<Extent> extents) {
  return {
      .path = "/b", .type = kF4, .shape = std::move(shape), .block = std::move(block), .extents = std::move(extents)};
}

size_t kept(std::vector<Variable> variables, size_t dropped) {
  Layout layout{.format = "raw", .variables = std::move(variables)};
  EXPECT_EQ(normalise(layout, kFileBytes), dropped);
  return layout.variables.size();
}

TEST(Normalise, KeepsWhatIsInOrder) {
  EXPECT_EQ(kept({contiguous(0, 10), contiguous(40, 10), contiguous(960, 10)}, 0), 3u);
  EXPECT_EQ(kept({blocked({5, 5}, {3, 3}, {{0, 36}, {100, 36}, {36, 36}, {200, 36}})}, 0), 1u);
}

TEST(Normalise, DropsVariablesWithoutExtentsUncounted) {
  Variable empty = contiguous(0, 10);
  empty.extents.clear();
  EXPECT_EQ(kept({empty, contiguous(0, 10)}, 0), 1u);
}

TEST(Normalise, DropsWhatLiesOutside) {
  EXPECT_EQ(kept({contiguous(964, 10)}, 1), 0u);
  EXPECT_EQ(kept({contiguous(1001, 10)}, 1), 0u);
  EXPECT_EQ(kept({contiguous(UINT64_MAX - 3, 10)}, 1), 0u);
  EXPECT_EQ(kept({contiguous(0, 0)}, 1), 0u);
}

TEST(Normalise, DropsWhatContradictsItsShape) {
  Variable wrong = contiguous(0, 10);
  wrong.shape = {11};
  EXPECT_EQ(kept({wrong}, 1), 0u);
  wrong.shape = {uint64_t{1} << 62, 4};
  EXPECT_EQ(kept({wrong}, 1), 0u);
  wrong = contiguous(0, 10);
  wrong.extents.push_back({100, 40});
  EXPECT_EQ(kept({wrong}, 1), 0u);
  EXPECT_EQ(kept({blocked({5, 5}, {9}, {{0, 36}})}, 1), 0u);
  EXPECT_EQ(kept({blocked({5}, {3}, {{0, 12}, {12, 8}})}, 1), 0u);
}

TEST(Normalise, FilteredExtentsMayHaveAnyLength) {
  Variable filtered = blocked({5}, {3}, {{0, 7}, {50, 100}});
  filtered.filtered = true;
  EXPECT_EQ(kept({filtered}, 0), 1u);
}

TEST(Normalise, DropsImpossibleTypesPathsAndRanks) {
  Variable variable = contiguous(0, 10);
  variable.type.size = 3;
  EXPECT_EQ(kept({variable}, 1), 0u);
  variable = contiguous(0, 10);
  variable.path.assign(kMaxPathBytes + 1, '/');
  EXPECT_EQ(kept({variable}, 1), 0u);
  variable = contiguous(0, 1);
  variable.shape.assign(kMaxDims + 1, 1);
  EXPECT_EQ(kept({variable}, 1), 0u);
}

TEST(Normalise, TheEarlierOfTwoOverlappingVariablesStays) {
  Layout layout{.format = "raw", .variables = {contiguous(40, 10), contiguous(60, 10), contiguous(0, 10)}};
  EXPECT_EQ(normalise(layout, kFileBytes), 1u);
  ASSERT_EQ(layout.variables.size(), 2u);
  EXPECT_EQ(layout.variables[0].extents[0].offset, 40u);
  EXPECT_EQ(layout.variables[1].extents[0].offset, 0u);
}

TEST(Normalise, AVariableMayNotOverlapItself) { EXPECT_EQ(kept({blocked({6}, {3}, {{0, 12}, {8, 12}})}, 1), 0u); }

TEST(Normalise, TooManyExtentsMakeAFileOpaque) {
  std::vector<Extent> extents(kMaxExtentsPerFile + 1);
  for (size_t i = 0; i < extents.size(); ++i) extents[i] = {4 * i, 4};
  Layout layout{.format = "raw", .variables = {blocked({kMaxExtentsPerFile + 1}, {1}, std::move(extents))}};
  EXPECT_EQ(normalise(layout, 8 * kMaxExtentsPerFile), 1u);
  EXPECT_EQ(layout.format, "opaque");
  EXPECT_TRUE(layout.variables.empty());
}

// Whatever the variables are: afterwards no byte is claimed twice, none outside, and doing it again changes nothing.
TEST(Normalise, LeavesDisjointExtentsInsideTheFile) {
  std::mt19937 random(7);
  for (int round = 0; round < 1000; ++round) {
    Layout layout{.format = "raw", .variables = {}};
    const size_t count = 1 + random() % 12;
    for (size_t i = 0; i < count; ++i) {
      Variable variable = contiguous(random() % 1100, 1 + random() % 40);
      if (random() % 3 == 0) {
        variable.block = {1 + random() % 10};
        variable.extents.clear();
        for (size_t k = 0; k < 1 + random() % 4; ++k)
          variable.extents.push_back({random() % 1100, 4 * variable.block[0]});
      }
      layout.variables.push_back(variable);
    }
    const size_t dropped = normalise(layout, kFileBytes);
    ASSERT_EQ(dropped + layout.variables.size(), count);
    std::vector<bool> claimed(kFileBytes, false);
    for (const Variable& variable : layout.variables)
      for (const Extent& extent : variable.extents) {
        ASSERT_GT(extent.length, 0u);
        ASSERT_LE(extent.end(), kFileBytes);
        for (uint64_t at = extent.offset; at < extent.end(); ++at) {
          ASSERT_FALSE(claimed[at]);
          claimed[at] = true;
        }
      }
    ASSERT_EQ(normalise(layout, kFileBytes), 0u);
  }
}

}  // namespace
}  // namespace forebay
