#include "engine/set/name_ranges.h"

#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "engine/options.h"

namespace forebay::engine {
namespace {

using testing::UnorderedElementsAre;
using Names = std::vector<std::string>;

Names ranges_of(const Names& names) { return name_ranges(std::vector<std::string_view>(names.begin(), names.end())); }

TEST(NameRanges, ANumberThatVariesBecomesARange) {
  Names names;
  for (int rank = 64; rank < 128; ++rank) names.push_back(fmt::format("dump.{:05}.h5", rank));
  EXPECT_THAT(ranges_of(names), UnorderedElementsAre("dump.{00064-00127}.h5"));
  names.clear();
  for (int rank = 0; rank < 64; ++rank) names.push_back(fmt::format("DD0010/DD0010.cpu{}", rank));
  names.push_back("notes.txt");
  EXPECT_THAT(ranges_of(names), UnorderedElementsAre("DD0010/DD0010.cpu{0-63}", "notes.txt"));
}

TEST(NameRanges, ANumberMayBeThereTwiceAndOthersBesideIt) {
  Names names;
  for (int rank = 3; rank < 9; ++rank)
    for (const int part : {0, 7}) names.push_back(fmt::format("rank{:03}/part{}.{}.bin", rank, part, rank));
  EXPECT_THAT(ranges_of(names), UnorderedElementsAre("rank{003-008}/part0.{3-8}.bin", "rank{003-008}/part7.{3-8}.bin"));
}

TEST(NameRanges, WhatCannotBeToldIsNotTold) {
  EXPECT_TRUE(ranges_of({"a{1-2}"}).empty());
  EXPECT_TRUE(ranges_of({"a#1"}).empty());
  EXPECT_TRUE(ranges_of({"r\xc3\xa4nk1"}).empty());
  EXPECT_TRUE(ranges_of({"a1", "a007"}).empty()) << "numbers written in two ways";
  EXPECT_TRUE(ranges_of({"a" + std::string(30, '1'), "a" + std::string(30, '2')}).empty());
  Names many;
  for (char c = 'a'; c <= 'z'; ++c) many.emplace_back(1, c);
  EXPECT_TRUE(ranges_of(many).empty());
  EXPECT_TRUE(ranges_of({}).empty());
}

TEST(MayMatch, FollowsTheNames) {
  const Names ranges = {"dump.{00064-00127}.h5", "notes.txt"};
  const auto may = [&](const std::string& glob) { return may_match({glob}, ranges); };
  EXPECT_TRUE(may("dump.00064.h5"));
  EXPECT_TRUE(may("*.00127.h5"));
  EXPECT_TRUE(may("notes*"));
  EXPECT_FALSE(may("dump.00128.h5"));
  EXPECT_FALSE(may("dump.00003*"));
  EXPECT_FALSE(may("dump.64.h5"));
  EXPECT_TRUE(may_match({"dump.100", "dump.9"}, Names{"dump.{9-11}"}));
  EXPECT_FALSE(may_match({"dump.09"}, Names{"dump.{9-11}"}));
}

TEST(MayMatch, SaysYesWhereItCannotTell) {
  EXPECT_TRUE(may_match({"x"}, {}));
  EXPECT_TRUE(may_match({}, Names{"y"}));
  for (const char* odd :
       {"y{", "y{1}", "y{-2}", "y{2-1}", "y{0-99999999}", "y{1-2}{1-3}", "y{a-b}", "y{1-9999999999999999999999}"})
    EXPECT_TRUE(may_match({"x"}, Names{odd})) << odd;
}

// No file is ever missed: what a pattern matches of some names, the texts for these names say as well.
TEST(MayMatch, NeverMissesAFile) {
  std::mt19937 random(1);
  const auto pick = [&](unsigned most) { return static_cast<unsigned>(random() % most); };
  for (int round = 0; round < 300; ++round) {
    Names names;
    const unsigned width = pick(4), first = pick(200), parts = 1 + pick(3);
    for (unsigned rank = first; rank < first + 1 + pick(100); ++rank)
      for (unsigned part = 0; part < parts; ++part)
        names.push_back(fmt::format("run7/r{:0{}}/p{}.{}", rank, width, part, pick(2) ? rank : 3));
    const Names texts = ranges_of(names);
    for (const std::string& name : names) {
      EXPECT_TRUE(may_match({name}, texts)) << name;
      std::string glob = name;
      glob[pick(static_cast<unsigned>(glob.size()))] = '?';
      EXPECT_TRUE(may_match({glob.substr(0, 6 + pick(6)) + "*"}, texts)) << glob;
    }
  }
}

}  // namespace
}  // namespace forebay::engine
