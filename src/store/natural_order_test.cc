#include "store/natural_order.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "store/names.h"

namespace forebay::store {
namespace {

using NameList = std::vector<std::string>;

constexpr int64_t kMinute = 60'000'000'000;
constexpr int64_t kNoon = 30'000'000 * kMinute;
constexpr int64_t kWeek = 7 * 24 * 60 * kMinute;

// Times in minutes from noon.
std::vector<NamedSet> sets_at(const std::vector<std::pair<std::string, int64_t>>& sets) {
  std::vector<NamedSet> all;
  for (const auto& [name, minutes] : sets) all.push_back({name, kNoon + minutes * kMinute});
  return all;
}

struct Decided {
  NameList oldest_first;
  bool is_by_times = false;
  std::string remark;
};

// Whatever order they come in.
Decided decided(std::vector<NamedSet> sets, int64_t now_ns = kNoon + 60 * kMinute) {
  std::mt19937 random(5);
  Decided first;
  for (int round = 0; round < 8; ++round) {
    const NaturalOrder order = natural_order(sets, now_ns);
    NameList names;
    for (const size_t i : order.oldest_first) names.push_back(sets[i].name);
    if (round == 0)
      first = {names, order.is_by_times, order.remark};
    else
      EXPECT_EQ(names, first.oldest_first);
    std::ranges::shuffle(sets, random);
  }
  return first;
}

// As they are, by names alone.
void expect_as_written(const NameList& names) {
  std::vector<NamedSet> sets;
  for (const std::string& name : names) sets.push_back({name});
  const Decided order = decided(sets);
  EXPECT_EQ(order.oldest_first, names);
  EXPECT_EQ(order.remark, "");
  for (size_t i = 1; i < names.size(); ++i) {
    EXPECT_TRUE(is_before(names[i - 1], names[i])) << names[i];
    EXPECT_FALSE(is_before(names[i], names[i - 1])) << names[i];
  }
}

TEST(NaturalOrder, UnderstandsNumbers) {
  expect_as_written({"0.8", "0.9", "1", "1.1", "10"});
  expect_as_written({"1e-05", "2e-05", "0.0001", "0.0002", "1e+10"});
  expect_as_written({"dump_9", "dump_10", "dump_0011"});
  expect_as_written({"chk00300.0", "chk00300.5", "chk00301.0"});
  expect_as_written({"n1.9", "n1.10", "n2.1"});
  expect_as_written({"kh.00011.rst", "kh.00012.rst"});
  expect_as_written({"t_-1.5", "t_-0.5", "t_0", "t_0.25"});
  expect_as_written({"t-0.5", "t0", "t0.5"});
  expect_as_written({"dump-1", "dump-2"});
  expect_as_written({"t=0.5,cells=64", "t=1.5,cells=32"});
  expect_as_written({"x99999999999999999999", "x100000000000000000000"});
  expect_as_written({"s1.2.9", "s1.2.10"});
}

TEST(NaturalOrder, UnderstandsDatesAndTimes) {
  expect_as_written({"2000-01-30", "2000-01-31", "2000-02-01", "2000-02-02"});
  expect_as_written({"wrfrst_d01_2000-01-31_00.00.00", "wrfrst_d01_2000-01-31_12.00.00"});
  expect_as_written({"CASE.cam.r.0001-02-01-00000", "CASE.cam.r.0001-02-01-43200", "CASE.cam.r.0001-03-01-00000"});
  expect_as_written({"at20000131T235959", "at20000201T000000"});
}

TEST(NaturalOrder, AWordHasNoPlaceAmongNumbers) {
  const Decided order = decided(sets_at({{"kh.00011.rst", 0}, {"kh.final.rst", 5}, {"kh.00012.rst", 30}}));
  EXPECT_EQ(order.oldest_first, (NameList{"kh.00011.rst", "kh.final.rst", "kh.00012.rst"}));
  EXPECT_TRUE(order.is_by_times);
  EXPECT_EQ(decided(sets_at({{"restart.b", 0}, {"restart.a", 5}})).oldest_first, (NameList{"restart.b", "restart.a"}));
}

TEST(NaturalOrder, TimesDecideWhereNamesAndTimesDisagree) {
  EXPECT_EQ(decided(sets_at({{"chk0", 30}, {"chk1", 20}})).oldest_first, (NameList{"chk1", "chk0"}));
  const Decided rolling = decided(sets_at({{"s_hdf5_chk_0002", 0}, {"s_hdf5_chk_0000", 10}, {"s_hdf5_chk_0001", 20}}));
  EXPECT_EQ(rolling.oldest_first, (NameList{"s_hdf5_chk_0002", "s_hdf5_chk_0000", "s_hdf5_chk_0001"}));
  EXPECT_NE(rolling.remark.find("disagree"), std::string::npos) << rolling.remark;
}

TEST(NaturalOrder, ATimeInTheFutureIsWorthNothing) {
  const Decided order = decided(sets_at({{"iter_0000100", 24 * 60}, {"iter_0000200", 0}}), kNoon + kMinute);
  EXPECT_EQ(order.oldest_first, (NameList{"iter_0000100", "iter_0000200"}));
  EXPECT_FALSE(order.is_by_times);
  EXPECT_NE(order.remark.find("iter_0000100"), std::string::npos) << order.remark;
}

TEST(NaturalOrder, SetsThatAreOlderByFarAreAnotherRuns) {
  auto sets = sets_at({{"0.5", 0}, {"0.6", 10}, {"9.5", 0}});
  *sets[2].time_ns -= kWeek;
  const Decided order = decided(sets);
  EXPECT_EQ(order.oldest_first, (NameList{"9.5", "0.5", "0.6"}));
  EXPECT_NE(order.remark.find("9.5 is older than the others by far: another run? (--series)"), std::string::npos)
      << order.remark;
}

TEST(NaturalOrder, TimesOfOneInstantSayNothing) {
  std::vector<NamedSet> copied = {{"d_10", kNoon}, {"d_9", kNoon + 1'000'000'000}, {"d_8", kNoon + 1'500'000'000}};
  const Decided order = decided(copied);
  EXPECT_EQ(order.oldest_first, (NameList{"d_8", "d_9", "d_10"})) << "cp takes them in the order of the shell";
  EXPECT_EQ(order.remark, "");
}

TEST(NaturalOrder, HasNoTroubleWithWhatIsOdd) {
  EXPECT_TRUE(natural_order({}, 0).oldest_first.empty());
  EXPECT_EQ(decided({{"x", INT64_MIN}, {"y", INT64_MAX}}).oldest_first.size(), 2u);
  EXPECT_EQ(decided({{"a"}, {"b"}}).remark, "neither the names nor the times of the files say which is newer");
  EXPECT_EQ(decided({{"1"}, {"01"}}).oldest_first, (NameList{"01", "1"}));
  for (const char* name : {"", "-", ".", "1.", "1e", "1e-", "e5", "+1+", "1.2.3e5", "1e99999", "-1"}) {
    EXPECT_FALSE(is_before(name, name)) << name;
    (void)tells_a_time(name);
  }
  EXPECT_FALSE(is_before("a", "b")) << "names say nothing of it";
}

TEST(Names, ThatTellATimeTellNoStep) {
  for (const char* name : {"0.9", "2000-01-31", "1e-05", "t=0.5,cells=64", "CASE.r.0001-02-01-00000"}) {
    EXPECT_TRUE(tells_a_time(name)) << name;
    EXPECT_EQ(step_of(name), std::nullopt) << name;
  }
  EXPECT_EQ(step_of("wrf4.2_0040"), 40);
  EXPECT_EQ(step_of("n=16,step=40"), 40);
  EXPECT_EQ(step_of("kh.00011.rst"), 11);
}

}  // namespace
}  // namespace forebay::store
