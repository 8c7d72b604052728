#include "view/check/consistency.h"

#include <ctime>
#include <map>
#include <random>
#include <set>

#include <gmock/gmock.h>

#include "view/check/overlaps.h"
#include "view/testing.h"

namespace forebay::view {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> found_in(const MemoryRun& run, bool values = false, std::vector<std::string> optional = {}) {
  std::vector<std::string> found;
  const auto summary =
      check_consistency(run, {.values = values, .optional = std::move(optional)}, [&](const Inconsistency& one) {
        std::string text = std::to_string(one.step.number) + " " + to_string(one.kind) + " " + one.variable + ":";
        for (const uint32_t rank : one.ranks) text += " " + std::to_string(rank);
        found.push_back(text + ": " + one.what);
      });
  EXPECT_EQ(summary.inconsistencies, found.size());
  return found;
}

std::shared_ptr<MemoryStep> new_step(MemoryRun& run, int64_t step, double time) {
  auto made = std::make_shared<MemoryStep>(StepInfo{.number = run.now.size(), .step = step, .time = time});
  run.now.push_back(made);
  return made;
}

double one_value(const Shape& at) { return static_cast<double>(at[0]); }

TEST(Consistency, OfWhatGoesTogetherSaysNothing) {
  MemoryRun run;
  for (int64_t n = 0; n < 3; ++n) {
    auto step = new_step(run, 10 * n, 0.1 * static_cast<double>(n));
    step->add_global<double>("t", {4, 4}, {{0, {{0, 0}, {2, 4}}}, {1, {{2, 0}, {2, 2}}}, {2, {{2, 2}, {2, 2}}}},
                             one_value);
    step->add_local<double>("p", {{3}, {5}}, [](uint32_t, const Shape&) { return 1.0; });
  }
  EXPECT_THAT(found_in(run, true), IsEmpty());
}

TEST(Consistency, NamesGapsAndOverlaps) {
  MemoryRun run;
  auto step = new_step(run, 0, 0);
  step->add_global<double>("t", {4, 4}, {{0, {{0, 0}, {2, 4}}}, {1, {{1, 0}, {2, 2}}}}, one_value);
  EXPECT_THAT(found_in(run),
              ElementsAre("0 gap t:: nobody wrote 6 elements of 16", "0 overlap t: 0 1: 1 pair of blocks overlap"));
}

TEST(Consistency, ExpectsNoFinerLevelToBeEverywhere) {
  MemoryRun run;
  auto step = new_step(run, 0, 0);
  Block block{.rank = 0, .place = {{2}, {2}}, .stored = {.shape = {2}}};
  block.stored.array = step->add_stored({2}, Bytes(16));
  step->add_array({.name = "t@1", .type = element_type_of<double>(), .form = Form::global, .shape = {8}, .level = 1},
                  {block, block});
  EXPECT_THAT(found_in(run), ElementsAre(HasSubstr("overlap t@1")));
}

TEST(Consistency, WithValuesForgivesOverlapsThatAgree) {
  MemoryRun run;
  auto step = new_step(run, 0, 0);
  const std::vector<std::pair<uint32_t, Box>> places = {{0, {{0}, {6}}}, {1, {{4}, {6}}}, {2, {{8}, {4}}}};
  step->add_global<double>("same", {12}, places, one_value);
  int calls = 0;
  // Its twelfth value is the last one of rank 1, which rank 2 has, too.
  step->add_global<double>("other", {12}, places,
                           [&](const Shape& at) { return ++calls == 12 ? -1.0 : one_value(at); });
  EXPECT_THAT(found_in(run), ElementsAre(HasSubstr("other: 0 1 2: 2 pairs"), HasSubstr("same: 0 1 2: 2 pairs")));
  EXPECT_THAT(found_in(run, true),
              ElementsAre("0 values other: 1 2: 1 pair of blocks have different values where they overlap"));
  step->damaged = {0};
  EXPECT_THAT(found_in(run, true), ElementsAre(HasSubstr("values other"), HasSubstr("unreadable same: 0 1")));
}

TEST(Consistency, NamesRanksAndVariablesThatAreMissing) {
  MemoryRun run;
  auto first = new_step(run, 0, 0);
  first->add_global<double>("t", {4}, {{0, {{0}, {2}}}, {1, {{2}, {2}}}}, one_value);
  first->add_global<double>("u", {4}, {{2, {{0}, {4}}}}, one_value);
  auto second = new_step(run, 1, 1);
  second->add_global<double>("t", {4}, {{0, {{0}, {4}}}}, one_value);
  EXPECT_THAT(found_in(run),
              ElementsAre("1 rank t: 1: 1 rank that wrote it in the step before did not",
                          "1 variable u:: is missing; the step before has it", "1 rank : 1 2: 2 ranks wrote nothing"));
  EXPECT_THAT(found_in(run, false, {"[u-z]"}),
              ElementsAre(HasSubstr("1 rank t: 1: 1 rank"), "1 rank : 1: 1 rank wrote nothing"));
  EXPECT_THAT(found_in(run, false, {"x", "?"}), IsEmpty());
}

TEST(Consistency, NamesTypesDimensionsBoundsAndOrder) {
  MemoryRun run;
  auto first = new_step(run, 5, 1);
  first->add_global<double>("t", {4}, {{0, {{0}, {4}}}}, one_value);
  first->add_global<float>("t:float32", {4}, {{3, {{0}, {4}}}}, [](const Shape&) { return 1.f; });
  first->add_local<double>("p", {{3}, {5, 2}}, [](uint32_t, const Shape&) { return 1.0; });
  auto second = new_step(run, 5, 0.5);
  second->add_global<int32_t>("t", {2, 2}, {{0, {{0, 0}, {2, 2}}}}, [](const Shape&) { return 1; });
  second->remarked = {"ranks disagree about the attribute 'units'"};
  Block outside{.rank = 0, .place = {{3}, {4}}, .stored = {.shape = {4}}};
  outside.stored.array = second->add_stored({4}, Bytes(32));
  second->add_array({.name = "v", .type = element_type_of<double>(), .form = Form::global, .shape = {4}}, {outside});
  EXPECT_THAT(found_in(run),
              ElementsAre("0 dimensions p: 1: 1 rank wrote another number of dimensions than the first, 1",
                          "0 type t: 3: 1 rank wrote float32, the others float64", "0 rank : 2: 1 rank wrote nothing",
                          "1 order :: step 5 follows step 5", "1 order :: time 0.5 follows time 1",
                          "1 description :: ranks disagree about the attribute 'units'",
                          "1 type t:: is int32, and was float64 in the step before",
                          "1 dimensions t:: has 2 dimensions, and had 1 in the step before",
                          "1 bounds v: 0: 1 rank wrote outside of the global array of 4",
                          "1 variable p:: is missing; the step before has it", "1 rank : 1 3: 2 ranks wrote nothing"));
}

TEST(Consistency, GoesOnBehindWhatCannotBeOpened) {
  MemoryRun run;
  for (int64_t n = 0; n < 3; ++n) new_step(run, n, 0)->add_global<double>("t", {4}, {{0, {{0}, {4}}}}, one_value);
  run.pruned = {1};
  EXPECT_THAT(found_in(run), ElementsAre(HasSubstr("1 unreadable :: memory: step 1 was removed")));
}

TEST(Coverage, IsThatOfEachElement) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const Shape shape = round % 2 ? Shape{7, 6} : Shape{4, 3, 5};
    std::vector<Box> places(random() % 6);
    std::map<Shape, std::set<size_t>> writers;
    for (size_t i = 0; i < places.size(); ++i) {
      for (const uint64_t count : shape) {
        places[i].begin.push_back(random() % count);
        places[i].count.push_back(random() % (count - places[i].begin.back() + 1));
      }
      for_each_index(places[i].count, [&](Shape at) {
        for (size_t d = 0; d < at.size(); ++d) at[d] += places[i].begin[d];
        writers[at].insert(i);
      });
    }
    std::set<std::pair<size_t, size_t>> pairs;
    for (const auto& [at, who] : writers)
      for (const size_t one : who)
        for (const size_t other : who)
          if (one < other) pairs.emplace(one, other);
    const auto found = coverage(shape, places, 1000, 1000);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->holes, element_count(shape) - writers.size());
    EXPECT_EQ(std::set(found->pairs.begin(), found->pairs.end()), pairs);
    EXPECT_EQ(found->overlapping, pairs.size());
    EXPECT_EQ(found->hole.has_value(), found->holes > 0);
    if (found->hole)
      for_each_index(found->hole->count, [&](Shape at) {
        for (size_t d = 0; d < at.size(); ++d) at[d] += found->hole->begin[d];
        EXPECT_FALSE(writers.contains(at));
      });
  }
}

// 100,000 blocks side by side in two dimensions of three, one of them too large: comparing all with all would take
// 5e9 comparisons, and a sweep over the first dimension no fewer.
TEST(Coverage, OfManyBlocksTakesNoTime) {
  std::vector<Box> places;
  for (uint64_t y = 0; y < 316; ++y)
    for (uint64_t x = 0; x < 316; ++x) places.push_back({{0, 4 * y, 4 * x}, {64, 4, 4}});
  places[5000].count[2] = 5;
  const std::clock_t begin = std::clock();  // processor time: others may keep the machine busy
  const auto found = coverage({64, 1264, 1268}, places, 1000, 10);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  ASSERT_TRUE(found);
  EXPECT_THAT(found->pairs, ElementsAre(std::pair<size_t, size_t>(5000, 5001)));
  EXPECT_EQ(found->holes, 64u * 1264 * 4);
  EXPECT_LT(seconds, 30);
  RecordProperty("milliseconds", static_cast<int>(1000 * seconds));
}

}  // namespace
}  // namespace forebay::view
