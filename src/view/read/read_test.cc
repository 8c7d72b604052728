#include <random>

#include <gmock/gmock.h>

#include "view/read/selection.h"
#include "view/testing.h"

namespace forebay::view {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

int32_t value_at(const Shape& at) {
  int32_t value = 7;
  for (const uint64_t index : at) value = value * 31 + static_cast<int32_t>(index);
  return value;
}

Strided random_selection(std::mt19937& random, const Shape& shape) {
  Strided selection{{shape, shape}, Shape(shape.size(), 1)};
  for (size_t d = 0; d < shape.size(); ++d) {
    selection.box.begin[d] = random() % shape[d];
    selection.stride[d] = 1 + random() % 3;
    const uint64_t most = (shape[d] - selection.box.begin[d] + selection.stride[d] - 1) / selection.stride[d];
    selection.box.count[d] = 1 + random() % most;
  }
  return selection;
}

template <class T>
std::pair<Outcome, std::vector<T>> read_one(const Step& step, size_t array, const Selection& selection, size_t elements,
                                            T before = {}) {
  std::vector<T> out(elements, before);
  const Request request{&step, array, selection, std::as_writable_bytes(std::span(out))};
  return {read({&request, 1}).outcomes[0], out};
}

TEST(Read, AnySelectionIsThatOfTheAssembledArray) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    const Shape shape = round % 3 == 0 ? Shape{23} : round % 3 == 1 ? Shape{9, 8} : Shape{5, 6, 7};
    MemoryStep step(StepInfo{});
    step.add_global<int32_t>("v", shape, by_ranks(random_cuts(random, shape)), value_at);
    const Strided selection = random_selection(random, shape);
    const auto [outcome, values] = read_one<int32_t>(step, 0, selection, element_count(selection.box.count));
    ASSERT_FALSE(outcome.error) << outcome.error->what;
    EXPECT_EQ(outcome.holes, 0u);
    size_t i = 0;
    for_each_index(selection.box.count, [&](const Shape& index) {
      Shape at = selection.box.begin;
      for (size_t d = 0; d < at.size(); ++d) at[d] += index[d] * selection.stride[d];
      EXPECT_EQ(values[i++], value_at(at));
    });
    Points points{shape.size(), {}};
    for (size_t n = 0; n < 10 * shape.size(); ++n) points.indices.push_back(random() % shape[n % shape.size()]);
    const auto [with_points, picked] = read_one<int32_t>(step, 0, points, 10);
    ASSERT_FALSE(with_points.error);
    for (size_t n = 0; n < 10; ++n)
      EXPECT_EQ(picked[n], value_at(Shape(points.indices.begin() + static_cast<ptrdiff_t>(n * shape.size()),
                                          points.indices.begin() + static_cast<ptrdiff_t>((n + 1) * shape.size()))));
  }
}

TEST(Read, HolesStayAsTheyWereAndAreCounted) {
  MemoryStep step(StepInfo{});
  step.add_global<int32_t>("v", {4, 6}, {{0, {{0, 0}, {4, 2}}}, {1, {{1, 4}, {2, 2}}}}, value_at);
  const auto [outcome, values] = read_one<int32_t>(step, 0, Strided{{{0, 0}, {4, 3}}, {1, 2}}, 12, -5);
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.holes, 4u + 2u);
  EXPECT_THAT(values, ElementsAre(value_at({0, 0}), -5, -5, value_at({1, 0}), -5, value_at({1, 4}), value_at({2, 0}),
                                  -5, value_at({2, 4}), value_at({3, 0}), -5, -5));
}

TEST(Read, RowsLieWhereTheirIndicesSay) {
  MemoryStep step(StepInfo{});
  const auto add = [&](uint32_t rank, std::vector<uint64_t> indices, std::vector<int32_t> values) {
    const auto bytes = std::as_bytes(std::span(values));
    const Shape shape{indices.size(), 2};
    Block block{.rank = rank,
                .place = {{0, 0}, shape},
                .stored = {.array = step.add_stored(shape, Bytes(bytes.begin(), bytes.end())), .shape = shape}};
    block.indices = std::make_shared<std::vector<uint64_t>>(std::move(indices));
    return block;
  };
  std::vector<Block> blocks{add(0, {4, 0, 1}, {40, 41, 0, 1, 10, 11}), add(1, {3, 4}, {30, 31, 45, 46})};
  step.add_array({.name = "rows", .type = element_type_of<int32_t>(), .form = Form::global, .shape = {5, 2}},
                 std::move(blocks));
  const auto [outcome, values] = read_one<int32_t>(step, 0, Strided{{{0, 0}, {5, 2}}, {}}, 10, -1);
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.holes, 2u);
  EXPECT_THAT(values, ElementsAre(0, 1, 10, 11, -1, -1, 30, 31, 45, 46));
  const auto [some, column] = read_one<int32_t>(step, 0, Strided{{{1, 1}, {2, 1}}, {3, 1}}, 2);
  EXPECT_THAT(column, ElementsAre(11, 46));
}

TEST(Read, BlocksOfLocalArraysAreReadByTheirNumbers) {
  MemoryStep step(StepInfo{});
  step.add_local<int32_t>("v", {{3}, {4}},
                          [](uint32_t rank, const Shape& at) { return static_cast<int32_t>(100 * rank + at[0]); });
  const auto [outcome, values] = read_one<int32_t>(step, 0, WrittenBlock{1, {}}, 4);
  EXPECT_FALSE(outcome.error);
  EXPECT_THAT(values, ElementsAre(100, 101, 102, 103));
  EXPECT_THAT(read_one<int32_t>(step, 0, WrittenBlock{1, Box{{2}, {2}}}, 2).second, ElementsAre(102, 103));
  EXPECT_THAT(read_one<int32_t>(step, 0, WrittenBlock{2, {}}, 4).first.error->what, HasSubstr("has no block 2"));
  EXPECT_THAT(read_one<int32_t>(step, 0, Strided{{{0}, {3}}, {}}, 3).first.error->what,
              HasSubstr("2 arrays, one for each block"));
}

TEST(Read, WhatLiesOutsideIsRefusedWithDimensionAndSize) {
  MemoryStep step(StepInfo{});
  step.add_global<int32_t>("v", {4, 6}, {{0, {{0, 0}, {4, 6}}}}, value_at);
  const auto what = [&](const Selection& selection) {
    return read_one<int32_t>(step, 0, selection, 1).first.error->what;
  };
  EXPECT_THAT(what(Strided{{{0, 5}, {1, 2}}, {}}), HasSubstr("outside of dimension 1 of 'v', which has 6 elements"));
  EXPECT_THAT(what(Strided{{{3, 0}, {2, 1}}, {UINT64_MAX, 1}}), HasSubstr("dimension 0"));
  EXPECT_THAT(what(Strided{{{0}, {1}}, {}}), HasSubstr("has 2 dimensions, and 1 are selected"));
  EXPECT_THAT(what(Points{2, {0, 6}}), HasSubstr("index 6 of point 0"));
  EXPECT_THAT(what(Strided{{{0, 0}, {1, 2}}, {}}), HasSubstr("has 8 bytes, and there is room for 4"));
}

TEST(Read, DamageFailsWhatNeedsItAndNothingElse) {
  MemoryStep step(StepInfo{});
  step.add_global<int32_t>("v", {8}, {{0, {{0}, {4}}}, {1, {{4}, {4}}}}, value_at);
  step.damaged.insert(1);
  std::vector<int32_t> first(4), second(4);
  const std::vector<Request> requests{{&step, 0, Strided{{{0}, {4}}, {}}, std::as_writable_bytes(std::span(first))},
                                      {&step, 0, Strided{{{2}, {4}}, {}}, std::as_writable_bytes(std::span(second))}};
  const ReadResult result = read(requests);
  EXPECT_FALSE(result.outcomes[0].error);
  EXPECT_THAT(first, ElementsAre(value_at({0}), value_at({1}), value_at({2}), value_at({3})));
  ASSERT_TRUE(result.outcomes[1].error);
  EXPECT_EQ(result.outcomes[1].error->kind, ErrorKind::corrupt);
}

}  // namespace
}  // namespace forebay::view
