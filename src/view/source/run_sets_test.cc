#include "view/source/run_sets.h"

#include <gmock/gmock.h>

namespace forebay::view {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

store::Manifest manifest_of(const std::string& name, int64_t created_ns, const std::string& series = "a") {
  store::Manifest manifest{.name = name, .created_ns = created_ns};
  manifest.origin.series = series;
  return manifest;
}

RunSet readable(const std::string& name, int64_t created_ns, const std::string& series = "a") {
  return {.info = {name, {}, manifest_of(name, created_ns, series)}};
}

RunSet damaged(const std::string& name, std::optional<int64_t> written_ns) {
  RunSet set{.info = {name, {}, fail(ErrorKind::corrupt, "damaged")}};
  set.written_ns = written_ns;
  return set;
}

std::vector<std::string> names_in_order(std::vector<RunSet> sets, const std::string& series = "a") {
  std::vector<std::string> names;
  for (const RunSet& set : steps_of_series(std::move(sets), series)) names.push_back(set.info.name);
  return names;
}

TEST(RunSets, ADamagedSetIsWhereItsContainersWereWritten) {
  EXPECT_THAT(names_in_order({damaged("x", 25), readable("c", 30), readable("b", 20), readable("a", 10)}),
              ElementsAre("a", "b", "x", "c"));
  EXPECT_THAT(names_in_order({damaged("x", 5), readable("a", 10)}), ElementsAre("x", "a"));
  EXPECT_THAT(names_in_order({damaged("x", 99), readable("a", 10)}), ElementsAre("a", "x"));
  EXPECT_THAT(names_in_order({damaged("x", {}), readable("a", 10)}), ElementsAre("x", "a"));
}

TEST(RunSets, SeveralDamagedSetsStayInOrder) {
  EXPECT_THAT(names_in_order({damaged("z", 21), damaged("y", 22), damaged("x", 22), readable("c", 30),
                              readable("b", 20), damaged("w", 35)}),
              ElementsAre("b", "z", "x", "y", "c", "w"));
  EXPECT_THAT(names_in_order({damaged("y", 2), damaged("x", 1)}), ElementsAre("x", "y"));
  EXPECT_THAT(names_in_order({}), IsEmpty());
}

TEST(RunSets, WhatTheStoreRemembersOfADamagedSetTellsItsPlaceAndItsSeries) {
  RunSet known = damaged("x", 99);
  known.outline = manifest_of("x", 15);
  RunSet other = damaged("y", 99);
  other.outline = manifest_of("y", 15, "b");
  EXPECT_THAT(names_in_order({known, other, readable("a", 10), readable("b", 20)}), ElementsAre("a", "x", "b"));
  EXPECT_THAT(names_in_order({known, other, readable("a", 10), readable("b", 20)}, "b"), ElementsAre("y"));
}

TEST(RunSets, ADamagedSetOfUnknownSeriesIsInEach) {
  const std::vector<RunSet> sets = {damaged("x", 15), readable("a", 10), readable("b", 20, "b")};
  EXPECT_THAT(names_in_order(sets), ElementsAre("a", "x"));
  EXPECT_THAT(names_in_order(sets, "b"), ElementsAre("x", "b"));
}

}  // namespace
}  // namespace forebay::view
