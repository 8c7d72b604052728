#include <algorithm>
#include <random>
#include <set>

#include "store/test_store.h"

namespace forebay::store {
namespace {

using Names = std::vector<std::string>;

SetInfo set_of(const std::string& name, std::optional<int64_t> step, int64_t created_ns) {
  Manifest manifest;
  manifest.name = name;
  manifest.step = step;
  manifest.created_ns = created_ns;
  return {name, {}, std::move(manifest)};
}

SetInfo unreadable(const std::string& name) { return {name, {}, fail(ErrorKind::corrupt, "damaged")}; }

TEST(Order, StepsThenTimesMerged) {
  std::vector<SetInfo> sets = {set_of("s3", 3, 10),   set_of("s1", 1, 30), set_of("t20", {}, 20), unreadable("z"),
                               set_of("t40", {}, 40), unreadable("y"),     set_of("s3b", 3, 10),  set_of("t5", {}, 5)};
  sort_oldest_first(sets);
  EXPECT_EQ(names(sets), (Names{"y", "z", "t5", "t20", "s1", "s3", "s3b", "t40"}));
}

TEST(Order, DoesNotDependOnTheOrderBefore) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<SetInfo> sets;
    for (int i = 0; i < 8; ++i) {
      const auto step = random() % 2 != 0 ? std::optional<int64_t>(random() % 4) : std::nullopt;
      const std::string name(1, static_cast<char>('a' + i));
      sets.push_back(random() % 5 == 0 ? unreadable(name) : set_of(name, step, random() % 5));
    }
    auto other = sets;
    std::ranges::shuffle(other, random);
    sort_oldest_first(sets);
    sort_oldest_first(other);
    ASSERT_EQ(names(sets), names(other));
    std::optional<int64_t> last;
    for (const SetInfo& set : sets) {
      if (!set.manifest || !set.manifest->step) continue;
      ASSERT_GE(*set.manifest->step, last.value_or(0));
      last = set.manifest->step;
    }
  }
}

TEST(Retention, SetsThatWereSetAsideDoNotCount) {
  std::vector<SetInfo> sets;
  for (int step = 1; step <= 5; ++step) sets.push_back(set_of("s" + std::to_string(step), step, step));
  sets[3].refused = "the application could not read it";
  EXPECT_EQ(to_prune(sets, {2, 0}, "s5").removed, (Names{"s1", "s2"})) << "s5 and s3 are kept, and s4 between them";
  sets[4].refused = "likewise";
  EXPECT_EQ(to_prune(sets, {2, 0}, "s3").removed, Names{"s1"}) << "newer ones stay";
}

TEST(Retention, KeepsTheNewestTheMilestonesAndTheNewestGood) {
  std::vector<SetInfo> sets = {unreadable("bad")};
  for (int step = 1; step <= 8; ++step) sets.push_back(set_of("s" + std::to_string(step), step, step));
  const auto prune = [&](uint64_t last, uint64_t every, const char* good) {
    return to_prune(sets, {last, every}, good).removed;
  };
  EXPECT_EQ(prune(2, 0, "s8"), (Names{"s1", "s2", "s3", "s4", "s5", "s6"}));
  EXPECT_EQ(prune(2, 4, "s8"), (Names{"s1", "s2", "s3", "s5", "s6"}));
  EXPECT_EQ(prune(2, 0, "s3"), Names{"s1"}) << "damaged newer sets neither count nor go";
  EXPECT_EQ(prune(0, 0, "s5"), (Names{"s1", "s2", "s3", "s4"}));
  EXPECT_EQ(prune(100, 0, "s8"), Names{});
  EXPECT_EQ(prune(0, 0, ""), Names{}) << "nothing is known to be good";
  EXPECT_EQ(prune(0, 0, "removed"), Names{});
}

TEST(Retention, MilestonesAtTheEdges) {
  const std::vector<SetInfo> sets = {set_of("min", INT64_MIN, 0), set_of("zero", 0, 1), set_of("none", {}, 2),
                                     set_of("max", INT64_MAX, 3)};
  EXPECT_EQ(to_prune(sets, {0, 2}, "max").removed, Names{"none"});
  EXPECT_EQ(to_prune(sets, {0, UINT64_MAX}, "max").removed, (Names{"min", "none"}));
}

TEST(Retention, NeverRemovesTheNewestGoodNorTheNewestSets) {
  std::mt19937 random(11);
  for (int round = 0; round < 1000; ++round) {
    std::vector<SetInfo> sets;
    const size_t count = 1 + random() % 10;
    for (size_t i = 0; i < count; ++i) {
      const std::string name = "s" + std::to_string(i);
      const auto step = random() % 2 != 0 ? std::optional<int64_t>(random() % 20) : std::nullopt;
      sets.push_back(random() % 6 == 0 ? unreadable(name) : set_of(name, step, random() % 10));
    }
    sort_oldest_first(sets);
    const std::string good = sets[random() % count].name;
    const Retention retention{random() % 5, random() % 4};
    const Names pruned = to_prune(sets, retention, good).removed;
    const std::set<std::string> gone(pruned.begin(), pruned.end());
    ASSERT_EQ(gone.size(), pruned.size());
    ASSERT_FALSE(gone.contains(good));
    uint64_t newer = 0;
    bool counts = false;
    for (auto set = sets.rbegin(); set != sets.rend(); ++set) {
      const bool is_milestone = set->manifest && set->manifest->step && retention.keep_every != 0 &&
                                *set->manifest->step % static_cast<int64_t>(retention.keep_every) == 0;
      counts = counts || set->name == good;
      const bool keeps = !set->manifest || !counts || newer < retention.keep_last || is_milestone || set->name == good;
      ASSERT_EQ(gone.contains(set->name), !keeps) << set->name;
      if (set->manifest && counts) ++newer;
    }
  }
}

TEST(Names, SetNames) {
  for (const char* good : {"a", "run.0001", "A-Z_0@x=1,b+c", "-x", "latest2"}) EXPECT_TRUE(is_set_name(good)) << good;
  for (const char* bad : {"", ".", "..", ".x", "latest", "a/b", "a b", "a\n", "\xc3\xa9", "a\\b", "a:b"})
    EXPECT_FALSE(is_set_name(bad)) << bad;
  EXPECT_FALSE(is_set_name(std::string_view("a\0b", 3)));
  EXPECT_TRUE(is_set_name(std::string(200, 'x')));
  EXPECT_FALSE(is_set_name(std::string(201, 'x')));
}

}  // namespace
}  // namespace forebay::store
