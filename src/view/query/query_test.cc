#include "view/query/query.h"

#include <cmath>
#include <random>
#include <set>

#include <gmock/gmock.h>

#include "view/query/narrow.h"
#include "view/testing.h"

namespace forebay::view {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Element = std::pair<uint64_t, Shape>;  // step and indices

struct Heard final : QueryVisitor {
  void step(const StepInfo& info, const Step&, const Candidates& found) override {
    steps.push_back(info.number);
    for (const Candidate& candidate : found.candidates)
      for_each_index(candidate.box.count, [&](Shape at) {
        for (size_t d = 0; d < at.size(); ++d) at[d] += candidate.box.begin[d];
        if (!candidates.insert({info.number, at}).second) ++twice;
        if (candidate.truth == Truth::all) certain.insert({info.number, at});
      });
    for (const Candidate& candidate : found.candidates) ranks.insert(candidate.ranks.begin(), candidate.ranks.end());
  }
  void hits(const StepInfo& info, const Candidates&, const Hits& hits) override {
    const size_t dimensions = hits.indices.size() / hits.count;
    for (size_t i = 0; i < hits.count; ++i) {
      const auto* at = hits.indices.data() + i * dimensions;
      if (!elements.insert({info.number, Shape(at, at + dimensions)}).second) ++twice;
      values.push_back(std::get<double>(hits.values[i * (hits.values.size() / hits.count)]));
    }
  }
  void failed(const StepInfo&, const Candidate& candidate, const Error& error) override {
    failures.push_back(error.message());
    failed_ranks.insert(candidate.ranks.begin(), candidate.ranks.end());
  }
  void step_failed(const StepInfo&, const Error& error) override { failures.push_back(error.message()); }

  std::vector<uint64_t> steps;
  std::set<Element> candidates, certain, elements;
  std::vector<double> values;
  std::set<uint32_t> ranks, failed_ranks;
  std::vector<std::string> failures;
  size_t twice = 0;
};

Result<QuerySummary> asked(const Run& run, const std::string& text, Heard& heard, QueryOptions options = {}) {
  const auto expression = parse_expression(text);
  EXPECT_TRUE(expression) << text;
  return query(run, *expression, options, heard);
}

std::vector<std::pair<uint32_t, Box>> random_places(std::mt19937& random, const Shape& shape, bool may_overlap) {
  std::vector<Box> boxes = random_cuts(random, shape);
  if (may_overlap && random() % 2) boxes.push_back(boxes[random() % boxes.size()]);
  if (may_overlap && random() % 2) {
    Box box{Shape(shape.size()), Shape(shape.size())};
    for (size_t d = 0; d < shape.size(); ++d) {
      box.begin[d] = random() % shape[d];
      box.count[d] = 1 + random() % (shape[d] - box.begin[d]);
    }
    boxes.push_back(box);
  }
  if (may_overlap && random() % 3 == 0) boxes.erase(boxes.begin());  // a gap
  return by_ranks(boxes);
}

double random_value(std::mt19937& random, double around) {
  if (random() % 40 == 0) return std::nan("");
  if (random() % 40 == 0) return random() % 2 ? HUGE_VAL : -HUGE_VAL;
  return around + static_cast<double>(random() % 5);
}

// An array as its last written blocks have it.
struct Assembled {
  std::map<Shape, double> values;
};

// Of an array with these values, in cubes of any sides.
template <class T>
StoredCubes random_cubes(std::mt19937& random, const Shape& shape, const std::vector<T>& values) {
  StoredCubes stored;
  for (const uint64_t size : shape) {
    stored.grid.sides.push_back(1 + random() % 4);
    stored.grid.counts.push_back((size + stored.grid.sides.back() - 1) / stored.grid.sides.back());
  }
  stored.cubes.resize(stored.grid.cubes());
  size_t i = 0;
  for_each_index(shape, [&](Shape at) {
    for (size_t d = 0; d < at.size(); ++d) at[d] /= stored.grid.sides[d];
    container::Cube& cube = stored.cubes[place_in(stored.grid.counts, at)];
    const auto value = static_cast<float>(values[i++]);
    if (std::isnan(value))
      cube.has_nan = true;
    else
      cube.merge({value, value});
  });
  return stored;
}

// A block's values inside of a larger array that is stored: with ghost cells, and stacked on others.
template <class T>
std::vector<T> with_surroundings(std::mt19937& random, Block& block, const std::vector<T>& values) {
  Shape whole;
  for (int d = 0; d < 2; ++d) block.stored.leading.push_back(random() % 2);
  for (const uint64_t count : block.place.count) {
    block.stored.begin.push_back(random() % 3);
    whole.push_back(count + block.stored.begin.back() + random() % 3);
  }
  block.stored.shape = whole;
  whole.insert(whole.begin(), 2, 2);
  std::vector<T> all(element_count(whole));
  for (T& value : all) value = static_cast<T>(random() % 12);
  size_t i = 0;
  for_each_index(block.place.count, [&](Shape at) {
    for (size_t d = 0; d < at.size(); ++d) at[d] += block.stored.begin[d];
    at.insert(at.begin(), block.stored.leading.begin(), block.stored.leading.end());
    all[place_in(whole, at)] = values[i++];
  });
  return all;
}

template <class T>
Assembled add_random(MemoryStep& step, std::mt19937& random, const std::string& name, const Shape& shape) {
  Assembled whole;
  std::vector<Block> blocks;
  for (const auto& [rank, box] : random_places(random, shape, true)) {
    const double around = static_cast<double>(random() % 8);
    std::vector<T> values;
    for_each_index(box.count, [&](Shape at) {
      for (size_t d = 0; d < at.size(); ++d) at[d] += box.begin[d];
      const double value = random_value(random, around);
      values.push_back(std::is_integral_v<T> && !std::isfinite(value) ? T{3} : static_cast<T>(value));
      whole.values[at] = static_cast<double>(values.back());
    });
    Block block{.rank = rank, .place = box, .stored = {.shape = box.count}};
    if (random() % 3 == 0) values = with_surroundings(random, block, values);
    Shape stored = block.stored.shape;
    stored.insert(stored.begin(), block.stored.leading.size(), 2);
    const auto bytes = std::as_bytes(std::span(values));
    if (random() % 5) block.characteristics = container::characterise(element_type_of<T>().data, bytes);
    block.stored.array = step.add_stored(stored, Bytes(bytes.begin(), bytes.end()));
    if (random() % 3) step.stored_cubes[block.stored.array] = random_cubes(random, stored, values);
    blocks.push_back(std::move(block));
  }
  step.add_array({.name = name, .type = element_type_of<T>(), .form = Form::global, .shape = shape}, std::move(blocks));
  return whole;
}

TEST(Query, ByValuesIsWhatTheWholeArraysSay_AndByCharacteristicsNoLess) {
  const std::vector<std::pair<std::string, std::function<bool(double, double, double)>>> kQueries = {
      {"a > 9", [](double a, double, double) { return a > 9; }},
      {"a > 8 and b < 2", [](double a, double b, double) { return a > 8 && b < 2; }},
      {"not (a > 3) and c != 4", [](double a, double, double c) { return !(a > 3) && c != 4; }},
      {"nan(a) or b == 0", [](double a, double b, double) { return std::isnan(a) || b == 0; }},
      {"a = inf or (b >= 11 and not c <= 2)",
       [](double a, double b, double c) { return a == HUGE_VAL || (b >= 11 && !(c <= 2)); }},
      {"a != 5 and b != 5", [](double a, double b, double) { return (a < 5 || a > 5) && (b < 5 || b > 5); }},
  };
  std::mt19937 random(5);
  size_t pruned = 0, sure = 0;
  for (int round = 0; round < 150; ++round) {
    MemoryRun run;
    const Shape shape = round % 3 == 0 ? Shape{23} : round % 3 == 1 ? Shape{7, 9} : Shape{4, 5, 6};
    const auto& [text, meant] = kQueries[random() % kQueries.size()];
    std::set<Element> expected, all;
    for (uint64_t number = 0; number < 3; ++number) {
      auto step = std::make_shared<MemoryStep>(StepInfo{.number = number});
      const Assembled a = add_random<double>(*step, random, "a", shape);
      const Assembled b = add_random<float>(*step, random, "b", shape);
      const Assembled c = add_random<int64_t>(*step, random, "c", shape);
      for (const auto& [at, value] : a.values) {
        const bool needs_b = text.find('b') != text.npos, needs_c = text.find('c') != text.npos;
        if ((needs_b && !b.values.contains(at)) || (needs_c && !c.values.contains(at))) continue;
        all.insert({number, at});
        if (meant(value, needs_b ? b.values.at(at) : 0, needs_c ? c.values.at(at) : 0)) expected.insert({number, at});
      }
      run.now.push_back(step);
    }
    Heard heard;
    const auto summary = asked(run, text, heard, {.values = true, .threads = 1, .tile_bytes = 1 + random() % 500});
    ASSERT_TRUE(summary) << summary.error().message();
    EXPECT_EQ(heard.elements, expected) << text << " in round " << round;
    EXPECT_EQ(summary->hits, expected.size());
    EXPECT_EQ(heard.twice, 0u);
    EXPECT_TRUE(std::ranges::includes(heard.candidates, expected)) << text << " in round " << round;
    EXPECT_TRUE(std::ranges::includes(expected, heard.certain)) << text << " in round " << round;
    pruned += all.size() - heard.candidates.size();
    sure += heard.certain.size();
  }
  EXPECT_GT(pruned, 1000u);  // or the characteristics told nothing
  EXPECT_GT(sure, 100u);
}

TEST(Query, NamesBoxesOfCubesThatLieSideBySideAsOne) {
  auto step = std::make_shared<MemoryStep>(StepInfo{.number = 0});
  const Shape shape{40, 40};
  std::vector<double> values(1600);
  for (uint64_t y = 11; y < 29; ++y)
    for (uint64_t x = 20; x < 40; ++x) values[y * 40 + x] = 7;
  const auto bytes = std::as_bytes(std::span(values));
  Block block{.rank = 0, .place = engine::whole_box(shape), .stored = {.shape = shape}};
  block.stored.array = step->add_stored(shape, Bytes(bytes.begin(), bytes.end()));
  StoredCubes cubes{.grid = {.sides = {10, 10}, .counts = {4, 4}}, .cubes = std::vector<container::Cube>(16)};
  for (uint64_t i = 0; i < values.size(); ++i)
    cubes.cubes[i / 400 * 4 + i % 40 / 10].merge({static_cast<float>(values[i]), static_cast<float>(values[i])});
  step->stored_cubes[block.stored.array] = cubes;
  step->add_array({.name = "a", .type = element_type_of<double>(), .form = Form::global, .shape = shape}, {block});
  const auto found = find_candidates(*step, *parse_expression("a > 5"));
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_EQ(found->candidates.size(), 1u);
  EXPECT_EQ(found->candidates[0].box.begin, (Shape{10, 20}));
  EXPECT_EQ(found->candidates[0].box.count, (Shape{20, 20}));
  const auto inside = find_candidates(*step, *parse_expression("a > 5 or a < 1"));
  ASSERT_TRUE(inside);
  EXPECT_GT(std::ranges::count(inside->candidates, Truth::all, &Candidate::truth), 0);
}

TEST(Query, NamesAllOfABlockWhereItsCubesWouldBeTooMany) {
  const Expression expression = *parse_expression("a > 5");
  const Block block{.rank = 0, .place = engine::whole_box({6}), .stored = {.shape = {6}}};
  StoredCubes cubes{.grid = {.sides = {1}, .counts = {6}}, .cubes = std::vector<container::Cube>(6)};
  for (size_t i = 0; i < 6; ++i) cubes.cubes[i] = i % 2 == 0 ? container::Cube{0, 0} : container::Cube{9, 9};
  const KnownBlock known{.type = element_type_of<double>().data,
                         .block = &block,
                         .cubes = &cubes,
                         .conditions = {0},
                         .truths = {Truth::maybe}};
  EXPECT_EQ(narrow(expression, {&known, 1}, block.place, 3).size(), 3u);
  const auto whole = narrow(expression, {&known, 1}, block.place, 2);
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(whole[0].box.count, Shape{6});
  EXPECT_EQ(whole[0].truth, Truth::maybe);
}

// Ranks of two elements each, in a line; `hot` has one above 100.
std::shared_ptr<MemoryStep> line(uint64_t number, uint32_t ranks, std::optional<uint32_t> hot) {
  auto step = std::make_shared<MemoryStep>(StepInfo{.number = number});
  std::vector<std::pair<uint32_t, Box>> places;
  for (uint32_t rank = 0; rank < ranks; ++rank) places.emplace_back(rank, Box{{2 * rank}, {2}});
  step->add_global<double>("/temperature", {2 * ranks}, places, [&](const Shape& at) {
    return hot && at[0] == 2 * *hot + 1 ? 1000.0 : static_cast<double>(at[0] % 2);
  });
  return step;
}

TEST(Query, FirstStopsAtTheFirstStepThatHas) {
  MemoryRun run;
  for (uint64_t n = 0; n < 60; ++n) run.now.push_back(line(n, 4, n >= 20 ? std::optional(2u) : std::nullopt));
  Heard heard;
  const auto summary = asked(run, "temperature > 100", heard, {.values = true, .first = true, .threads = 2});
  ASSERT_TRUE(summary);
  EXPECT_THAT(heard.steps, ElementsAre(20));
  EXPECT_THAT(heard.elements, ElementsAre(Element{20, {5}}));
  EXPECT_THAT(heard.values, ElementsAre(1000));
  EXPECT_THAT(heard.ranks, ElementsAre(2));
  EXPECT_EQ(summary->steps, 21u);
  EXPECT_EQ(summary->cost.read_bytes, 16u);  // of one block
  EXPECT_LT(run.opened, 60u);
}

TEST(Query, FirstWithValuesIsNotContentWithWhatMayBe) {
  MemoryRun run;
  for (uint64_t n = 0; n < 3; ++n) run.now.push_back(line(n, 4, n == 2 ? std::optional(1u) : std::nullopt));
  Heard heard;
  // 0 and 1 lie around 0.5, and no value is between.
  const std::string text = "(temperature > 0.4 and temperature < 0.6) or temperature == 1000";
  const auto summary = asked(run, text, heard, {.values = true, .first = true});
  ASSERT_TRUE(summary);
  EXPECT_THAT(heard.steps, ElementsAre(0, 1, 2));
  EXPECT_EQ(summary->steps_found, 1u);
  Heard by_index;
  ASSERT_TRUE(asked(run, text, by_index, {.first = true}));
  EXPECT_THAT(by_index.steps, ElementsAre(0));
}

TEST(Query, IndexAloneReadsNoValues) {
  MemoryRun run;
  for (uint64_t n = 0; n < 10; ++n) run.now.push_back(line(n, 64, 3));
  Heard heard;
  const auto summary = asked(run, "/temperature > 100", heard);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->candidates, 10u);
  EXPECT_EQ(summary->blocks, 640u);
  EXPECT_EQ(summary->value_bytes, 10240u);
  for (const auto& step : run.now) EXPECT_EQ(step->pieces_read, 0u);
}

TEST(Query, CombinesScalarsAndLocalArraysByRank) {
  auto step = std::make_shared<MemoryStep>(StepInfo{.number = 0});
  step->add_local<double>("ids", {{3}, {2}, {4}},
                          [](uint32_t rank, const Shape& at) { return static_cast<double>(10 * rank + at[0]); });
  step->add_local<double>("mass", {{3}, {2}, {4}},
                          [](uint32_t, const Shape& at) { return static_cast<double>(at[0]); });
  step->add_global<double>("time", {}, {{0, {}}, {1, {}}, {2, {}}},
                           [n = 0](const Shape&) mutable { return n++ * 1.0; });
  step->add_global<int32_t>("cycle", {}, {{0, {}}}, [](const Shape&) { return 7; });
  MemoryRun run;
  run.now = {step};
  Heard heard;
  ASSERT_TRUE(asked(run, "ids >= 11 and mass < 2 and time > 1 and cycle == 7", heard, {.values = true}));
  EXPECT_THAT(heard.ranks, ElementsAre(0, 2));  // rank 0 wrote the cycle for all
  EXPECT_THAT(heard.values, ElementsAre(20, 21));
  Heard scalars;
  const auto summary = asked(run, "time >= 1", scalars, {.values = true});
  ASSERT_TRUE(summary);
  EXPECT_THAT(scalars.ranks, ElementsAre(1, 2));
  EXPECT_EQ(summary->hits, 2u);
}

TEST(Query, LeavesOutWhatNoListedRowHas) {
  auto step = std::make_shared<MemoryStep>(StepInfo{.number = 0});
  std::vector<double> values = {5, 6, 7};
  const auto bytes = std::as_bytes(std::span(values));
  Block block{.rank = 1, .place = {{0}, {3}}, .stored = {.shape = {3}}};
  block.stored.array = step->add_stored({3}, Bytes(bytes.begin(), bytes.end()));
  block.indices = std::make_shared<const std::vector<uint64_t>>(std::vector<uint64_t>{8, 2, 4});
  step->add_array({.name = "x", .type = element_type_of<double>(), .form = Form::global, .shape = {10}}, {block});
  MemoryRun run;
  run.now = {step};
  Heard heard;
  const auto summary = asked(run, "not x > 5.5 or x == 7", heard, {.values = true});
  ASSERT_TRUE(summary) << summary.error().message();
  EXPECT_THAT(heard.elements, ElementsAre(Element{0, {4}}, Element{0, {8}}));
}

TEST(Query, GoesOnBehindDamage) {
  MemoryRun run;
  for (uint64_t n = 0; n < 4; ++n) run.now.push_back(line(n, 4, 2));
  auto damaged = line(1, 4, 2);
  damaged->damaged = {2};
  run.now[1] = damaged;
  auto without_index = line(2, 4, 2);
  without_index->broken_index = {0};
  run.now[2] = without_index;
  run.pruned = {0};
  Heard heard;
  const auto summary = asked(run, "temperature > 100", heard, {.values = true});
  ASSERT_TRUE(summary);
  EXPECT_THAT(heard.elements, ElementsAre(Element{3, {5}}));
  EXPECT_EQ(summary->failures, 3u);
  EXPECT_THAT(heard.failures, ElementsAre(HasSubstr("was removed"), HasSubstr("checksum"), HasSubstr("index")));
  EXPECT_THAT(heard.failed_ranks, ElementsAre(2));
}

TEST(Query, SaysWhatCannotBeAsked) {
  auto step = line(0, 4, 2);
  step->add_local<double>("mass", {{3}, {2}}, [](uint32_t, const Shape&) { return 1.0; });
  step->add_global<double>("plane", {2, 2}, {{0, {{0, 0}, {2, 2}}}}, [](const Shape&) { return 1.0; });
  step->add_array({.name = "label", .type = element_type(io::ValueType::string)}, {});
  MemoryRun run;
  run.now = {step};
  Heard heard;
  EXPECT_THAT(asked(run, "temprature > 1", heard).error().message(), HasSubstr("did you mean /temperature?"));
  EXPECT_THAT(asked(run, "temperature > 1 and mass > 1", heard).error().what, HasSubstr("no elements in common"));
  EXPECT_THAT(asked(run, "temperature > 1 and plane > 1", heard).error().what, HasSubstr("no elements in common"));
  EXPECT_THAT(asked(run, "label > 1", heard).error().what, HasSubstr("only numbers"));
  EXPECT_THAT(asked(run, "mass > 1", heard, {.begin_step = 1}).error().what, HasSubstr("has 1 steps"));
}

}  // namespace
}  // namespace forebay::view
