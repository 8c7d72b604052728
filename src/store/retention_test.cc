#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "store/series.h"
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

SetInfo completed(const std::string& name, uint64_t ordinal, int64_t created_ns, const std::string& series = "a") {
  SetInfo set = set_of(name, {}, created_ns);
  set.manifest->ordinal = ordinal;
  set.manifest->origin.series = series;
  return set;
}

TEST(Order, IsThatOfCompletionWhateverStepsAndClocksSay) {
  SetInfo step_10 = completed("yesterday", 1, 900), step_1 = completed("today", 2, 100);
  step_10.manifest->step = 10;
  step_1.manifest->step = 1;
  std::vector<SetInfo> sets = {step_1,  unreadable("z"),          completed("tie2", 3, 50),
                               step_10, completed("tie1", 3, 40), unreadable("y")};
  sort_oldest_first(sets);
  EXPECT_EQ(names(sets), (Names{"y", "z", "yesterday", "today", "tie1", "tie2"}));
}

TEST(Order, SetsWithoutOrdinalsComeFirstByCreation) {
  std::vector<SetInfo> sets = {completed("new1", 3, 5), completed("old2", 0, 30), completed("new2", 4, 1),
                               completed("old1", 0, 20), completed("old3", 0, 30)};
  sets[1].manifest->step = 1;
  sets[3].manifest->step = 9;
  sort_oldest_first(sets);
  EXPECT_EQ(names(sets), (Names{"old1", "old2", "old3", "new1", "new2"}));
  EXPECT_EQ(newest_place(sets, "a"), 4u);
  EXPECT_EQ(newest_place(std::span(sets).first(3), "a"), 3u) << "they are in the first places";
  EXPECT_EQ(newest_place(sets, "b"), 0u);
}

TEST(Order, SeriesAreMergedAndKeepTheirs) {
  std::vector<SetInfo> sets = {completed("b1", 1, 25, "b"), completed("a3", 3, 30), completed("a1", 1, 20),
                               completed("b2", 2, 28, "b"), completed("a2", 2, 10)};
  sort_oldest_first(sets);
  EXPECT_EQ(names(sets), (Names{"a1", "a2", "b1", "b2", "a3"}));
}

TEST(Order, DoesNotDependOnTheOrderBefore) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<SetInfo> sets;
    for (int i = 0; i < 8; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      sets.push_back(random() % 5 == 0
                         ? unreadable(name)
                         : completed(name, random() % 4, static_cast<int64_t>(random() % 5), random() % 2 ? "a" : "b"));
    }
    auto other = sets;
    std::ranges::shuffle(other, random);
    sort_oldest_first(sets);
    sort_oldest_first(other);
    ASSERT_EQ(names(sets), names(other));
    std::map<std::string, uint64_t> last;
    for (const SetInfo& set : sets) {
      if (!set.manifest) continue;
      ASSERT_GE(set.manifest->ordinal, last[set.manifest->origin.series]);
      last[set.manifest->origin.series] = set.manifest->ordinal;
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
  for (const char* good : {"a", "run.0001", "A-Z_0@x=1,b+c", "-x", "latest2", "a b", "\xc3\xa9", "a\\b", "a:b"})
    EXPECT_TRUE(is_set_name(good)) << good;
  for (const char* bad : {"", ".", "..", ".x", "latest", "a/b", "a ", "a\n", "\xc3", "step:7"})
    EXPECT_FALSE(is_set_name(bad)) << bad;
  EXPECT_FALSE(is_set_name(std::string_view("a\0b", 3)));
  EXPECT_TRUE(is_set_name(std::string(200, 'x')));
  EXPECT_FALSE(is_set_name(std::string(201, 'x')));
}

}  // namespace
}  // namespace forebay::store
