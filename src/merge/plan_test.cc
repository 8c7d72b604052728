#include "merge/plan.h"

#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "merge/cut.h"
#include "merge/similarity.h"

namespace forebay::merge {
namespace {

// A file of `size` bytes with variables as given, in one extent each unless they have some already.
void add_file(Catalogue& catalogue, const std::string& name, uint64_t size, std::vector<Variable> variables) {
  Layout layout{.format = "test", .variables = std::move(variables)};
  normalise(layout, size);
  catalogue.add({.name = name, .size = size}, layout, Similarity{}.keys(layout));
}

Variable array(const std::string& path, const char* type, Shape shape, uint64_t offset) {
  const DataType parsed = *DataType::parse(type);
  return {.path = path, .type = parsed, .shape = shape, .extents = {{offset, element_count(shape) * parsed.size}}};
}

// Random files with contiguous, blocked and filtered variables between gaps.
Catalogue random_catalogue(std::mt19937& random) {
  static constexpr const char* kTypes[] = {"f4", "f8", "i8", "u1", "x3", ">f4"};
  Catalogue catalogue;
  const auto below = [&](uint64_t n) { return random() % n; };
  for (uint64_t file = 0, files = 1 + below(6); file < files; ++file) {
    std::vector<Variable> variables;
    uint64_t at = below(50);
    for (uint64_t v = 0, count = below(12); v < count; ++v) {
      Variable variable = array("/g" + std::to_string(below(3)) + "/v" + std::to_string(v % 5), kTypes[v % 6],
                                {1 + below(30), 1 + below(20), 1 + below(9)}, at);
      if (below(4) == 0) {  // blocked: a grid of equal blocks, each somewhere
        variable.block = variable.shape;
        variable.shape[0] *= 3;
        variable.partial = true;
        const uint64_t bytes = variable.extents[0].length;
        variable.extents.push_back({at + bytes + 1 + below(9), bytes});
      }
      if (below(6) == 0) {
        variable.filtered = true;
        variable.block = variable.shape;
      }
      at = variable.extents.back().end() + below(3) * below(40);
      variables.push_back(std::move(variable));
    }
    add_file(catalogue, "f" + std::to_string(file), at + below(100), std::move(variables));
  }
  return catalogue;
}

PlanSpec random_spec(std::mt19937& random, const Catalogue& catalogue) {
  PlanSpec spec{.scheme = static_cast<Scheme>(random() % 4),
                .block_bytes = 64 + random() % 2000,
                .frame_bytes = kMinFrameBytes + random() % 9000,
                .share_bytes = random() % 4000};
  if (spec.scheme == Scheme::aware && random() % 2)
    for (size_t key = 0; key < catalogue.keys.size(); ++key)
      spec.key_block_bytes.push_back(random() % 2 ? 64 + random() % 500 : 0);
  return spec;
}

// The promise that all else rests on: the frames of a plan hold every byte of every file exactly once, and shapes
// describe them exactly.
TEST(Plan, CoversEveryByteOfEveryFileExactlyOnce) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const Catalogue catalogue = random_catalogue(random);
    ASSERT_TRUE(catalogue.validate().has_value());
    const PlanSpec spec = random_spec(random, catalogue);
    const auto plan = Plan::make(catalogue, spec);
    ASSERT_TRUE(plan.has_value()) << plan.error().message();
    std::vector<std::vector<int>> seen;
    for (const FileRow& file : catalogue.files) seen.emplace_back(file.size, 0);
    for (const Frame& frame : plan->frames()) {
      ASSERT_GT(frame.raw_bytes, 0u);
      ASSERT_LE(frame.raw_bytes, 2 * spec.frame_bytes);
      const auto slices = plan->slices(frame);
      uint64_t bytes = 0;
      for (const Slice& slice : slices) {
        plan->for_each_extent(slice, [&](uint64_t offset, uint64_t length) {
          bytes += length;
          for (uint64_t i = 0; i < length; ++i) ++seen[slice.stream.file].at(offset + i);
        });
      }
      ASSERT_EQ(bytes, frame.raw_bytes);
      const FrameShape shape = plan->shape(frame, slices);
      ASSERT_EQ(shape.element_total() * shape.type.size, frame.raw_bytes);
    }
    for (const auto& file : seen)
      for (const int count : file) ASSERT_EQ(count, 1);
  }
}

TEST(Plan, AwareConcatenatesOneVariableOfAllRanksInRankOrder) {
  Catalogue catalogue;
  for (int rank = 0; rank < 3; ++rank)
    add_file(catalogue, "rank" + std::to_string(rank), 4000,
             {array("/T", "f4", {10, 25}, 100), array("/P", "f4", {10, 25}, 2000)});
  const auto plan = Plan::make(catalogue, {.scheme = Scheme::aware, .share_bytes = 0});
  ASSERT_TRUE(plan.has_value());
  ASSERT_EQ(plan->groups().size(), 3u);  // T, P, skeletons
  const auto slices = plan->slices(plan->frames()[0]);
  ASSERT_EQ(slices.size(), 3u);
  for (uint32_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(slices[rank].stream.file, rank);
    EXPECT_EQ(slices[rank].length, 1000u);
  }
  const FrameShape shape = plan->shape(plan->frames()[0], slices);
  EXPECT_EQ(shape.type.name(), "f4");
  ASSERT_EQ(shape.blocks.size(), 3u);
  EXPECT_EQ(shape.blocks[0], (Block{{1, 1, 10, 25}}));
}

TEST(Plan, AwareBlockInterleavesBlocksRoundRobin) {
  Catalogue catalogue;
  add_file(catalogue, "rank0", 1000, {array("/T", "f4", {100}, 0)});
  add_file(catalogue, "rank1", 1000, {array("/T", "f4", {50}, 0)});
  const auto plan = Plan::make(catalogue, {.scheme = Scheme::aware_block, .block_bytes = 128, .share_bytes = 0});
  ASSERT_TRUE(plan.has_value());
  std::vector<std::array<uint64_t, 3>> got;
  for (const Slice& slice : plan->slices(plan->frames()[0]))
    got.push_back({slice.stream.file, slice.begin, slice.length});
  const std::vector<std::array<uint64_t, 3>> expected = {
      {0, 0, 128}, {1, 0, 128}, {0, 128, 128}, {1, 128, 72}, {0, 256, 144}};
  EXPECT_EQ(got, expected);
}

TEST(Plan, SmallGroupsOfOneDatatypeShareFrames) {
  Catalogue catalogue;
  std::vector<Variable> variables;
  for (uint64_t i = 0; i < 100; ++i)
    variables.push_back(array("/v" + std::to_string(i), i % 2 ? "f4" : "f8", {10}, i * 100));
  add_file(catalogue, "rank0", 10000, variables);
  const auto plan = Plan::make(catalogue, {});
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->groups().size(), 3u);
  EXPECT_EQ(plan->frames().size(), 3u);
}

TEST(Plan, LargeArraysAreCutAtWholePlanes) {
  Catalogue catalogue;
  add_file(catalogue, "rank0", 10 * 40 * 50 * 8, {array("/T", "f8", {10, 40, 50}, 0)});
  const auto plan = Plan::make(catalogue, {.scheme = Scheme::aware, .block_bytes = 4096, .frame_bytes = 40000});
  ASSERT_TRUE(plan.has_value());
  ASSERT_EQ(plan->frames().size(), 5u);
  for (const Frame& frame : plan->frames())
    EXPECT_EQ(plan->shape(frame, plan->slices(frame)).blocks, (std::vector<Block>{{{1, 2, 40, 50}}}));
}

TEST(Plan, RefusesImpossibleSpecs) {
  Catalogue catalogue;
  add_file(catalogue, "a", 10, {});
  const auto kind = [&](PlanSpec spec) { return Plan::make(catalogue, spec).error().kind; };
  EXPECT_EQ(kind({.frame_bytes = 0}), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({.frame_bytes = kMaxFrameBytes + 1}), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({.block_bytes = 0}), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({.key_block_bytes = {0, 0, 0}}), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({.scheme = static_cast<Scheme>(9)}), ErrorKind::invalid_argument);
}

TEST(Plan, StopsAtTheFrameLimit) {
  Catalogue catalogue;
  add_file(catalogue, "a", uint64_t{1} << 60, {});
  EXPECT_EQ(Plan::make(catalogue, {}, 1000).error().kind, ErrorKind::limit);
}

TEST(CutUnit, IsTheLargestWholePartThatFits) {
  EXPECT_EQ(cut_unit(Shape{10, 20, 30}, 8, 10 * 20 * 30 * 8), 10u * 20 * 30 * 8);
  EXPECT_EQ(cut_unit(Shape{10, 20, 30}, 8, 10000), 20u * 30 * 8);
  EXPECT_EQ(cut_unit(Shape{10, 20, 30}, 8, 1000), 30u * 8);
  EXPECT_EQ(cut_unit(Shape{10, 20, 30}, 8, 100), 8u);
  EXPECT_EQ(cut_unit(Shape{}, 4, 100), 4u);
}

}  // namespace
}  // namespace forebay::merge
