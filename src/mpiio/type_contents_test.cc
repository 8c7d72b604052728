#include "mpiio/type_contents.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "mpiio/array_types.h"
#include "mpiio/pattern_model.h"

namespace forebay::lock::mpiio {
namespace {

// The elements (of 1 byte) of all data, in order.
std::vector<int64_t> elements(const Result<Pattern>& pattern) {
  EXPECT_TRUE(pattern) << pattern.error().message();
  return cursor_bytes(*pattern, 0, 0, pattern->size());
}

Result<Pattern> made(Combiner combiner, std::vector<int64_t> numbers, int64_t element_extent = 1) {
  Pattern element = Pattern::bytes(1).resized(0, element_extent);
  return pattern_of({.combiner = combiner, .numbers = std::move(numbers), .types = {element}});
}

using testing::ElementsAre;

TEST(TypeContents, ListElementsAsMpiDefinesThem) {
  EXPECT_THAT(elements(made(Combiner::contiguous, {3}, 10)), ElementsAre(0, 10, 20));
  EXPECT_THAT(elements(made(Combiner::vector, {2, 3, -4}, 2)), ElementsAre(0, 2, 4, -8, -6, -4));
  EXPECT_THAT(elements(made(Combiner::hvector, {2, 3, 7}, 2)), ElementsAre(0, 2, 4, 7, 9, 11));
  EXPECT_THAT(elements(made(Combiner::indexed, {3, 2, 0, 1, 5, 9, -1}, 2)), ElementsAre(10, 12, -2));
  EXPECT_THAT(elements(made(Combiner::hindexed, {2, 2, 1, 5, -1}, 2)), ElementsAre(5, 7, -1));
  EXPECT_THAT(elements(made(Combiner::indexed_block, {2, 2, 3, 0}, 2)), ElementsAre(6, 8, 0, 2));
  EXPECT_THAT(elements(made(Combiner::hindexed_block, {2, 2, 3, 0}, 2)), ElementsAre(3, 5, 0, 2));
  EXPECT_THAT(elements(made(Combiner::structure, {1, 2, 100}, 2)), ElementsAre(100, 102));
}

TEST(TypeContents, ThatContradictThemselvesAreErrors) {
  for (auto& numbers : std::vector<std::vector<int64_t>>{{}, {-1}, {5, 1}, {1, -1, 0}, {2, 2, 2, 2, 2, 2, 2, 7}, {4}})
    for (Combiner combiner : {Combiner::vector, Combiner::indexed, Combiner::subarray, Combiner::darray,
                              Combiner::structure, Combiner::indexed_block}) {
      auto pattern = made(combiner, numbers);
      EXPECT_TRUE(pattern || pattern.error().kind == ErrorKind::invalid_argument);
    }
  EXPECT_FALSE(made(Combiner::subarray, {3, 1, 1, 1, 0}));
  EXPECT_FALSE(made(Combiner::subarray, {1, 4, 2, 1, 9}));
  EXPECT_FALSE(pattern_of({.combiner = Combiner::dup, .numbers = {}, .types = {}}));
  EXPECT_EQ(made(Combiner::vector, {2, 1, INT64_MAX}, 2).error().kind, ErrorKind::limit);
}

// Which process has an index of a distributed dimension.
int64_t owner(const DarrayDimension& dimension, int64_t index) {
  int64_t block = dimension.argument;
  if (dimension.distribution == Distribution::none) return 0;
  if (dimension.distribution == Distribution::block) {
    if (block < 0) block = (dimension.size + dimension.processes - 1) / dimension.processes;
    return index / block;
  }
  return index / (block < 0 ? 1 : block) % dimension.processes;
}

TEST(Darray, GivesEveryElementToItsOwner) {
  PatternMaker maker(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<DarrayDimension> dimensions(static_cast<size_t>(maker.number(1, 3)));
    int64_t ranks = 1, size = 1;
    for (DarrayDimension& dimension : dimensions) {
      dimension.size = maker.number(0, 7);
      dimension.distribution = static_cast<Distribution>(maker.number(0, 2));
      dimension.processes = dimension.distribution == Distribution::none ? 1 : maker.number(1, 3);
      int64_t least = std::max<int64_t>((dimension.size + dimension.processes - 1) / dimension.processes, 1);
      dimension.argument = maker.number(0, 1) ? -1 : maker.number(least, least + 2);
      ranks *= dimension.processes;
      size *= dimension.size;
    }
    ArrayOrder order = maker.number(0, 1) ? ArrayOrder::c : ArrayOrder::fortran;
    std::vector<std::vector<int64_t>> expected(static_cast<size_t>(ranks));
    for (int64_t at = 0; at < size; ++at) {
      std::vector<int64_t> index(dimensions.size());
      int64_t rest = at, rank = 0;
      for (size_t step = 0; step < dimensions.size(); ++step) {
        size_t i = order == ArrayOrder::c ? dimensions.size() - 1 - step : step;
        index[i] = rest % dimensions[i].size;
        rest /= dimensions[i].size;
      }
      for (size_t i = 0; i < dimensions.size(); ++i)
        rank = rank * dimensions[i].processes + owner(dimensions[i], index[i]);
      expected[static_cast<size_t>(rank)].push_back(at);
    }
    for (int64_t rank = 0; rank < ranks; ++rank)
      ASSERT_EQ(elements(darray(dimensions, rank, order, Pattern::bytes(1), 0, size)),
                expected[static_cast<size_t>(rank)]);
  }
}

TEST(Subarray, ListsItsElementsInTheOrderOfTheArray) {
  SubarrayDimension dimensions[] = {{4, 2, 1}, {5, 3, 2}};
  EXPECT_THAT(elements(subarray(dimensions, ArrayOrder::c, Pattern::bytes(1), 0, 20)),
              ElementsAre(7, 8, 9, 12, 13, 14));
  EXPECT_THAT(elements(subarray(dimensions, ArrayOrder::fortran, Pattern::bytes(1), 0, 20)),
              ElementsAre(9, 10, 13, 14, 17, 18));
}

TEST(Subarray, OfAHugeArrayIsOneTerm) {
  SubarrayDimension dimensions[] = {{100'000, 50'000, 7}, {100'000, 50'000, 9}, {100'000, 50'000, 11}};
  Pattern pattern = *subarray(dimensions, ArrayOrder::c, Pattern::bytes(8), 0, 8'000'000'000'000'000);
  EXPECT_EQ(pattern.segment_count(), uint64_t{50'000} * 50'000);
  EXPECT_EQ(region_of(pattern, 0, 0, pattern.size())->terms().size(), 1u);
}

TEST(Subarray, BeyondWhatOffsetsCanSayIsAnError) {
  std::vector<SubarrayDimension> dimensions(5, {1 << 20, 1 << 19, 0});
  EXPECT_EQ(subarray(dimensions, ArrayOrder::c, Pattern::bytes(8), 0, 0).error().kind, ErrorKind::limit);
}

}  // namespace
}  // namespace forebay::lock::mpiio
