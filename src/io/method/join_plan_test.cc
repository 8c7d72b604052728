// Which blocks join, by examples and for random tilings.
#include "io/method/join_plan.h"

#include <algorithm>
#include <ctime>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace forebay::io {
namespace {

using Places = std::vector<std::vector<size_t>>;

PlacedBlock placed(Shape offsets, Shape shape) { return {.offsets = std::move(offsets), .shape = std::move(shape)}; }

Places places_of(const std::vector<Join>& joins) {
  Places places;
  for (const Join& join : joins) places.push_back(join.blocks);
  return places;
}

TEST(JoinPlan, AGridJoinsToOneBox) {
  const std::vector<PlacedBlock> blocks = {placed({0, 0}, {2, 3}), placed({0, 3}, {2, 5}), placed({2, 0}, {4, 3}),
                                           placed({2, 3}, {4, 5})};
  const auto joins = plan_joins(blocks);
  ASSERT_EQ(joins.size(), 1u);
  EXPECT_EQ(joins[0].blocks, (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(joins[0].offsets, (Shape{0, 0}));
  EXPECT_EQ(joins[0].shape, (Shape{6, 8}));
}

TEST(JoinPlan, ABoxNeedNotBeAGrid) {
  const std::vector<PlacedBlock> pinwheel = {placed({0, 0}, {1, 2}), placed({0, 2}, {2, 1}), placed({1, 0}, {2, 1}),
                                             placed({1, 1}, {1, 1}), placed({2, 1}, {1, 2})};
  EXPECT_EQ(places_of(plan_joins(pinwheel)), (Places{{0, 1, 2, 3, 4}}));
}

TEST(JoinPlan, OfWhatIsNoBoxRowsJoin) {
  // Two whole rows of three, and the first two of a third.
  std::vector<PlacedBlock> blocks;
  for (uint64_t i = 0; i < 8; ++i) blocks.push_back(placed({2 * (i / 3), 2 * (i % 3)}, {2, 2}));
  EXPECT_EQ(places_of(plan_joins(blocks)), (Places{{0, 1, 2, 3, 4, 5}, {6, 7}}));
}

TEST(JoinPlan, WhatOverlapsStays) {
  std::vector<PlacedBlock> blocks = {placed({0}, {4}), placed({4}, {4}), placed({8}, {4}), placed({11}, {2})};
  EXPECT_EQ(places_of(plan_joins(blocks)), (Places{{0, 1}}));
  blocks[3].may_join = false;
  EXPECT_EQ(places_of(plan_joins(blocks)), (Places{{0, 1}}));
  blocks[3].variable = 1;
  EXPECT_EQ(places_of(plan_joins(blocks)), (Places{{0, 1, 2}}));
  EXPECT_TRUE(plan_joins(std::vector<PlacedBlock>(3, placed({0, 1}, {1, 1}))).empty());
}

TEST(JoinPlan, KindsVariablesAndDimensionsDoNotMix) {
  std::vector<PlacedBlock> blocks = {placed({0}, {1}), placed({1}, {1})};
  blocks[1].kind = 1;
  EXPECT_TRUE(plan_joins(blocks).empty());
  blocks[1].kind = 0;
  blocks[1].variable = 1;
  EXPECT_TRUE(plan_joins(blocks).empty());
  blocks[1].variable = 0;
  EXPECT_EQ(plan_joins(blocks).size(), 1u);
  blocks.push_back(placed({0, 0}, {1, 1}));
  EXPECT_TRUE(plan_joins(blocks).empty());
}

TEST(JoinPlan, EmptyBlocksAndNoBlocksDoNotJoin) {
  EXPECT_TRUE(plan_joins({}).empty());
  EXPECT_EQ(places_of(plan_joins(std::vector{placed({0}, {0}), placed({0}, {2}), placed({2}, {1}), placed({}, {})})),
            (Places{{1, 2}}));
}

TEST(JoinPlan, FarApartBlocksAreNoBox) {
  const uint64_t far = uint64_t{1} << 62;
  EXPECT_TRUE(plan_joins(std::vector{placed({0, 0, 0}, {1, 1, 1}), placed({far, far, far}, {1, 1, 1})}).empty());
}

// Cuts a box at random, also so that no row of blocks is left.
class Tiling {
 public:
  Tiling(std::mt19937& random, Shape offsets, Shape shape) : random_(random) {
    cut(std::move(offsets), std::move(shape), 5);
  }
  std::vector<PlacedBlock> blocks;

 private:
  void cut(Shape offsets, Shape shape, int depth) {
    const size_t d = random_() % shape.size();
    if (depth == 0 || shape[d] < 2 || random_() % 8 == 0) {
      blocks.push_back(placed(std::move(offsets), std::move(shape)));
      return;
    }
    const uint64_t first = 1 + random_() % (shape[d] - 1);
    Shape second_offsets = offsets, second_shape = shape;
    second_offsets[d] += first;
    second_shape[d] -= first;
    shape[d] = first;
    cut(std::move(offsets), std::move(shape), depth - 1);
    cut(std::move(second_offsets), std::move(second_shape), depth - 1);
  }
  std::mt19937& random_;
};

using Cells = std::multiset<Shape>;

void add_cells(Cells& cells, const Shape& offsets, const Shape& shape) {
  for (uint64_t i = 0; i < element_count(shape); ++i) {
    Shape cell = offsets;
    uint64_t rest = i;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) cell[d] += rest % shape[d];
    cells.insert(std::move(cell));
  }
}

bool share_a_cell(const PlacedBlock& a, const PlacedBlock& b) {
  for (size_t d = 0; d < a.shape.size(); ++d)
    if (std::max(a.offsets[d], b.offsets[d]) >= std::min(a.offsets[d] + a.shape[d], b.offsets[d] + b.shape[d]))
      return false;
  return true;
}

// What plan_joins() promises of any blocks.
void check_joins(const std::vector<PlacedBlock>& blocks, const std::vector<Join>& joins) {
  std::set<size_t> seen;
  size_t before = 0;
  for (const Join& join : joins) {
    ASSERT_GE(join.blocks.size(), 2u);
    EXPECT_TRUE(std::ranges::is_sorted(join.blocks));
    EXPECT_LE(before, join.blocks[0]);
    before = join.blocks[0];
    Cells of_blocks, of_box;
    add_cells(of_box, join.offsets, join.shape);
    for (const size_t place : join.blocks) {
      const PlacedBlock& block = blocks[place];
      EXPECT_TRUE(seen.insert(place).second) << "in two joins";
      EXPECT_TRUE(block.may_join);
      EXPECT_EQ(std::pair(block.variable, block.kind),
                std::pair(blocks[join.blocks[0]].variable, blocks[join.blocks[0]].kind));
      for (size_t other = 0; other < blocks.size(); ++other)
        EXPECT_FALSE(other != place && blocks[other].variable == block.variable && share_a_cell(block, blocks[other]));
      add_cells(of_blocks, block.offsets, block.shape);
    }
    EXPECT_EQ(of_blocks, of_box);
  }
}

TEST(JoinPlan, AnyTilingOfABoxJoinsToIt) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    Shape offsets, shape;
    for (size_t d = 0; d < 1 + random() % 4; ++d) {
      offsets.push_back(random() % 10);
      shape.push_back(2 + random() % 6);
    }
    Tiling tiling(random, offsets, shape);
    std::ranges::shuffle(tiling.blocks, random);
    if (tiling.blocks.size() < 2) continue;
    const auto joins = plan_joins(tiling.blocks);
    check_joins(tiling.blocks, joins);
    ASSERT_EQ(joins.size(), 1u);
    EXPECT_EQ(joins[0].offsets, offsets);
    EXPECT_EQ(joins[0].shape, shape);
  }
}

TEST(JoinPlan, HolesOverlapsKindsAndVariablesKeepTheRules) {
  std::mt19937 random(2);
  size_t joined = 0;
  for (int round = 0; round < 500; ++round) {
    const size_t dimensions = 1 + random() % 3;
    std::vector<PlacedBlock> blocks;
    for (uint32_t variable = 0; variable < 3; ++variable) {
      Tiling tiling(random, Shape(dimensions, 0), Shape(dimensions, 8));
      for (PlacedBlock& block : tiling.blocks) {
        block.variable = variable;
        block.kind = random() % 12 == 0;
        block.may_join = random() % 12 != 0;
        if (random() % 12 == 0) continue;  // a hole
        if (random() % 12 == 0) block.shape[random() % dimensions] += 1;
        blocks.push_back(block);
      }
    }
    std::ranges::shuffle(blocks, random);
    const auto joins = plan_joins(blocks);
    check_joins(blocks, joins);
    joined += joins.size();
  }
  EXPECT_GT(joined, 500u);
}

// Seconds of processor time that planning takes, which finds `expected` joins.
double seconds_for(const std::vector<PlacedBlock>& blocks, size_t expected) {
  const std::clock_t start = std::clock();
  EXPECT_EQ(plan_joins(blocks).size(), expected);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(JoinPlan, ManyRanksAndVariablesTakeLittleTime) {
  std::vector<PlacedBlock> blocks;
  for (uint64_t rank = 0; rank < 64; ++rank)
    for (uint32_t variable = 0; variable < 1000; ++variable) {
      blocks.push_back(placed({rank / 16 * 10, rank / 4 % 4 * 10, rank % 4 * 10}, {10, 10, 10}));
      blocks.back().variable = variable;
    }
  EXPECT_LT(seconds_for(blocks, 1000), 5);
}

TEST(JoinPlan, TheWorstVariablesTakeBoundedTime) {
  const std::vector<PlacedBlock> same(kMostPlacedBlocks, placed({0, 0}, {4, 4}));
  EXPECT_LT(seconds_for(same, 0), 10);
  EXPECT_LT(seconds_for(std::vector<PlacedBlock>(1000000, placed({0, 0}, {4, 4})), 0), 5);
  std::vector<PlacedBlock> stairs;  // whose rows never end
  for (uint64_t i = 0; i < kMostPlacedBlocks; ++i) stairs.push_back(placed({i, i}, {1, 2}));
  EXPECT_LT(seconds_for(stairs, 0), 10);
}

}  // namespace
}  // namespace forebay::io
