#include "job/coordinator/restart_candidates.h"

#include <gmock/gmock.h>

namespace forebay::job {
namespace {

using testing::ElementsAre;

TierSet set_of(const std::string& name, std::optional<int64_t> step, int64_t time_ns, const std::string& stored_as) {
  TierSet set;
  set.name = set.application_name = name;
  set.step = step;
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

}  // namespace
}  // namespace forebay::job
