#include "engine/pack/running_cubes.h"

#include <gtest/gtest.h>

namespace forebay::engine {
namespace {

constexpr uint64_t kSide = 20, kElements = kSide * kSide * kSide;

// Files of a variable each.
Catalogue catalogue_of(size_t files) {
  Catalogue catalogue;
  for (size_t i = 0; i < files; ++i) {
    const Layout layout{.variables = {{.path = "/v",
                                       .type = {.kind = Kind::floating, .order = ByteOrder::little, .size = 8},
                                       .shape = {kSide, kSide, kSide},
                                       .block = {kSide, kSide, kSide},
                                       .extents = {{0, 8 * kElements}}}}};
    catalogue.add({.name = std::to_string(i), .size = 8 * kElements, .rank = static_cast<uint32_t>(i)}, layout,
                  std::vector<std::string>{"key"});
  }
  return catalogue;
}

TEST(RunningCubes, AreOfVariablesThatLieInOnePiece) {
  const Catalogue catalogue = catalogue_of(2);
  const PlanSpec side_by_side{.scheme = Scheme::aware, .block_bytes = 4096, .frame_bytes = 1 << 20};
  PlanSpec interleaved = side_by_side;
  interleaved.scheme = Scheme::aware_block;
  const auto plain = merge::Plan::make(catalogue, side_by_side), mixed = merge::Plan::make(catalogue, interleaved);
  ASSERT_TRUE(plain && mixed);
  EXPECT_TRUE(RunningCubes(*plain, 1 << 20).has(0));
  EXPECT_TRUE(RunningCubes(*plain, 1 << 20).has(1));
  EXPECT_FALSE(RunningCubes(*plain, 1 << 20).has(2));
  EXPECT_FALSE(RunningCubes(*mixed, 1 << 20).has(0));
}

TEST(RunningCubes, AreLeftOutWhereMemoryIsScarce) {
  const Catalogue catalogue = catalogue_of(2);
  const auto plan =
      merge::Plan::make(catalogue, {.scheme = Scheme::aware, .block_bytes = 4096, .frame_bytes = 1 << 20});
  ASSERT_TRUE(plan);
  const uint64_t needed = RunningCubes(*plan, 1 << 20).memory_bytes();
  EXPECT_GT(needed, 2 * 8 * sizeof(container::Cube));
  EXPECT_TRUE(RunningCubes(*plan, needed).has(0));
  RunningCubes none(*plan, needed - 1);
  EXPECT_FALSE(none.has(0));
  EXPECT_EQ(none.memory_bytes(), 0u);
  EXPECT_TRUE(none.take().empty());
}

TEST(RunningCubes, MergeStretchesInAnyOrder) {
  const Catalogue catalogue = catalogue_of(1);
  const auto plan =
      merge::Plan::make(catalogue, {.scheme = Scheme::aware, .block_bytes = 4096, .frame_bytes = 1 << 20});
  ASSERT_TRUE(plan);
  RunningCubes cubes(*plan, 1 << 20);
  cubes.add(0, {.first = 4, .cubes = {{.min = 3, .max = 4, .has_nan = false}}});
  cubes.add(0, {.first = 3, .cubes = {{.min = -1, .max = 0, .has_nan = true}, {.min = 1, .max = 2, .has_nan = false}}});
  const auto taken = cubes.take();
  ASSERT_EQ(taken.size(), 1u);
  ASSERT_EQ(taken[0].cubes.size(), 8u);
  EXPECT_EQ(taken[0].cubes[3], (container::Cube{.min = -1, .max = 0, .has_nan = true}));
  EXPECT_EQ(taken[0].cubes[4], (container::Cube{.min = 1, .max = 4, .has_nan = false}));
}

}  // namespace
}  // namespace forebay::engine
