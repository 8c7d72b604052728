#include "job/coordinator/restart_candidates.h"

#include <gmock/gmock.h>

namespace forebay::job {
namespace {

using testing::ElementsAre;

TierSet set_of(const std::string& name, uint64_t ordinal, int64_t time_ns, const std::string& stored_as) {
  TierSet set;
  set.name = set.application_name = name;
  set.ordinal = ordinal;
  set.time_ns = time_ns;
  set.stored_as = stored_as;
  return set;
}

// "TIER:NAME" of all, newest first.
std::vector<std::string> taken(RestartCandidates candidates) {
  std::vector<std::string> names;
  while (!candidates.empty()) {
    const auto one = candidates.take_newest();
    names.push_back(std::to_string(one.tier) + ":" + one.set.name);
  }
  return names;
}

TEST(RestartCandidates, TheNewestOfAllTiersIsNext) {
  RestartCandidates candidates;
  candidates.add(0, {set_of("a1", 1, 10, ""), set_of("a3", 3, 30, "")});
  candidates.add(1, {set_of("a2", 2, 20, "a2"), set_of("a4", 4, 40, "a4")});
  candidates.order();
  EXPECT_THAT(taken(candidates), ElementsAre("1:a4", "0:a3", "1:a2", "0:a1"));
}

TEST(RestartCandidates, NeitherStepsNorClocksDecide) {
  RestartCandidates candidates;
  TierSet behind = set_of("dump_1", 8, 5, "");
  behind.step = 1;
  TierSet before = set_of("dump_10", 7, 900, "dump_10");
  before.step = 10;
  candidates.add(0, {behind});
  candidates.add(1, {set_of("old", 0, 9000, "old"), before});
  candidates.order();
  EXPECT_THAT(taken(candidates), ElementsAre("0:dump_1", "1:dump_10", "1:old"));
}

TEST(RestartCandidates, OfASetInSeveralTiersTheFirstTierComesFirst) {
  RestartCandidates candidates;
  candidates.add(0, {set_of("a1", 1, 99, "a1"), set_of("a2", 2, 5, "")});
  candidates.add(1, {set_of("a1", 1, 10, "a1")});
  candidates.order();
  EXPECT_THAT(taken(candidates), ElementsAre("0:a2", "0:a1", "1:a1"));
}

TEST(RestartCandidates, SetsNewerThanTheOneThatIsWantedAreLeftOut) {
  RestartCandidates candidates;
  candidates.add(0, {set_of("a1", 1, 10, ""), set_of("a3", 3, 30, "a3+2"), set_of("a5", 5, 50, "")});
  candidates.order();
  auto by_stored_name = candidates, absent = candidates, nothing = candidates, without_number = candidates;
  candidates.leave_newer_out("a3");
  EXPECT_THAT(taken(candidates), ElementsAre("0:a3", "0:a1"));
  by_stored_name.leave_newer_out("a3+2");
  EXPECT_THAT(taken(by_stored_name), ElementsAre("0:a3", "0:a1"));
  absent.leave_newer_out("a4");
  EXPECT_THAT(taken(absent), ElementsAre("0:a3", "0:a1"));
  nothing.leave_newer_out("a0");
  EXPECT_TRUE(nothing.empty());
  without_number.leave_newer_out("final");
  EXPECT_THAT(taken(without_number), ElementsAre("0:a5", "0:a3", "0:a1"));
}

TEST(RestartCandidates, SuspectSetsComeLast) {
  RestartCandidates candidates;
  const auto set = [](const char* name, uint64_t ordinal, const char* suspicion) {
    TierSet one;
    one.name = one.application_name = one.stored_as = name;
    one.ordinal = ordinal;
    one.suspicion = suspicion;
    return one;
  };
  candidates.add(
      0, {set("a", 1, ""), set("b", 2, "killed"), set("c", 3, ""), set("d", 4, "small"), set("e", 5, "killed")});
  candidates.order();
  const auto first = candidates.take_newest();
  EXPECT_EQ(first.set.name, "c");
  ASSERT_EQ(first.passed.size(), 2u) << "the newer ones, once";
  EXPECT_EQ(first.passed[0].name, "e");
  const auto second = candidates.take_newest();
  EXPECT_EQ(second.set.name, "a");
  ASSERT_EQ(second.passed.size(), 1u);
  EXPECT_EQ(second.passed[0].name, "b");
  EXPECT_EQ(candidates.take_newest().set.name, "e") << "then the newest of the others";
  EXPECT_EQ(candidates.take_newest().set.name, "d");
  EXPECT_EQ(candidates.take_newest().set.name, "b");
  EXPECT_TRUE(candidates.empty());
}

}  // namespace
}  // namespace forebay::job
