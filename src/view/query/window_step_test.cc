#include "view/query/window_step.h"

#include <random>

#include <gtest/gtest.h>

#include "view/query/refine.h"
#include "view/testing.h"

namespace forebay::view {
namespace {

double value_at(const Shape& at) { return static_cast<double>((at[0] * 7 + at[1] * 13) % 50); }

std::shared_ptr<MemoryStep> make_step(std::mt19937& random, const Shape& shape) {
  auto step = std::make_shared<MemoryStep>(StepInfo{});
  step->add_global<double>("t", shape, by_ranks(random_cuts(random, shape)), value_at);
  step->add_local<double>("own", {{4, 3}, {2, 5}},
                          [](uint32_t rank, const Shape& at) { return 100.0 * rank + value_at(at); });
  step->add_global<double>("one", {}, {{0, {}}}, [](const Shape&) { return 1.0; });
  return step;
}

size_t array_named(const Step& step, std::string_view name) { return *find_array(step, name); }

std::vector<Shape> hits_of(const Step& step, const Expression& expression) {
  const auto found = find_candidates(step, expression);
  EXPECT_TRUE(found) << found.error().message();
  std::vector<Shape> all;
  const auto done = refine(step, expression, *found,
                           {.hits =
                                [&](const Hits& hits) {
                                  const size_t n = hits.indices.size() / hits.count;
                                  for (size_t i = 0; i < hits.count; ++i)
                                    all.emplace_back(hits.indices.begin() + static_cast<ptrdiff_t>(i * n),
                                                     hits.indices.begin() + static_cast<ptrdiff_t>((i + 1) * n));
                                },
                            .failed = [](size_t, const Error& error) { ADD_FAILURE() << error.message(); }});
  EXPECT_TRUE(done);
  std::ranges::sort(all);
  return all;
}

TEST(WindowStep, JoinsElementsOfDifferentBoxes) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    const Shape shape{6 + random() % 9, 5 + random() % 9};
    const auto step = make_step(random, shape);
    const Shape count{1 + random() % shape[0], 1 + random() % shape[1]};
    std::vector<Window> windows;
    std::vector<Box> boxes;
    for (int i = 0; i < 2; ++i) {
      boxes.push_back({{random() % (shape[0] - count[0] + 1), random() % (shape[1] - count[1] + 1)}, count});
      windows.push_back({array_named(*step, "t"), boxes.back(), {}});
    }
    const auto made = WindowStep::make(step, windows);
    ASSERT_TRUE(made) << made.error().message();
    const auto expression = parse_expression("\"000000\" > 20 and \"000001\" <= 30");
    std::vector<Shape> expected;
    for_each_index(count, [&](const Shape& at) {
      const Shape a{at[0] + boxes[0].begin[0], at[1] + boxes[0].begin[1]};
      const Shape b{at[0] + boxes[1].begin[0], at[1] + boxes[1].begin[1]};
      if (value_at(a) > 20 && value_at(b) <= 30) expected.push_back(at);
    });
    EXPECT_EQ(hits_of(**made, *expression), expected);
    for (size_t i = 0; i < (*made)->arrays()[1].blocks; ++i)
      EXPECT_LT((*made)->original(1, i), step->arrays()[2].blocks);
  }
}

TEST(WindowStep, TakesBlocksOfLocalArrays) {
  std::mt19937 random(3);
  const auto step = make_step(random, {8, 8});
  const auto made = WindowStep::make(step, {{array_named(*step, "own"), {}, 1}});
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->arrays()[0].shape, (Shape{2, 5}));
  EXPECT_EQ((*made)->original(0, 0), 1u);
  EXPECT_EQ(hits_of(**made, *parse_expression("\"000000\" == 113")), (std::vector<Shape>{{0, 1}}));
}

TEST(WindowStep, SaysWhatCannotBeSelected) {
  std::mt19937 random(3);
  const auto step = make_step(random, {8, 8});
  const size_t t = array_named(*step, "t");
  const auto kind = [&](const Window& window) { return WindowStep::make(step, {window}).error().kind; };
  EXPECT_EQ(kind({t, Box{{4, 0}, {5, 1}}, {}}), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({t, Box{{4}, {1}}, {}}), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({t, {}, 1000}), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({array_named(*step, "own"), {}, {}}), ErrorKind::invalid_argument);
  EXPECT_EQ(kind({array_named(*step, "one"), {}, {}}), ErrorKind::unsupported);
}

}  // namespace
}  // namespace forebay::view
