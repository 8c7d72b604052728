#include "job/agent/agent_sets.h"

#include <gtest/gtest.h>

namespace forebay::job {
namespace {

using wire::SetState;

Content content(const std::string& fingerprint, std::optional<int64_t> step = std::nullopt, int64_t written_ns = 0) {
  return {.step = step, .ranks = 1, .files = {}, .complete = {0}, .fingerprint = fingerprint, .written_ns = written_ns};
}

wire::SetNewsT news(const std::string& set, uint64_t exposure, SetState state, uint64_t ordinal = 0) {
  wire::SetNewsT news;
  news.ordinal = ordinal;
  news.set = set;
  news.exposure = exposure;
  news.state = state;
  return news;
}

// A set that has ended, and was written just before that or earlier.
void end(AgentSets& sets, const std::string& set, uint64_t ordinal, SetState state, int64_t at,
         std::optional<int64_t> written_ns = std::nullopt) {
  sets.offered(set, content("f", {}, written_ns.value_or(at)), 1);
  ASSERT_TRUE(sets.heard(news(set, 1, state, ordinal), at));
}

TEST(AgentSets, OffersWhatIsCompleteOnce) {
  AgentSets sets;
  EXPECT_FALSE(sets.observed("a", std::nullopt, "no marker").offer);
  EXPECT_TRUE(sets.observed("a", content("f"), {}).offer);
  sets.offered("a", content("f"), 7);
  EXPECT_EQ(sets.undrained(), 1u);
  EXPECT_FALSE(sets.observed("a", content("f"), {}).offer);
}

TEST(AgentSets, OffersAgainWhatHasGrown) {
  AgentSets sets;
  sets.offered("a", content("f"), 7);
  const auto decision = sets.observed("a", content("g"), {});
  EXPECT_TRUE(decision.offer);
  EXPECT_EQ(decision.withdraw, 7u);
  EXPECT_FALSE(decision.is_lost);
}

TEST(AgentSets, LosesWhatIsSpoiltWhileItDrains) {
  AgentSets sets;
  sets.offered("a", content("f"), 7);
  const auto decision = sets.observed("a", std::nullopt, "'x' is missing");
  EXPECT_EQ(decision.withdraw, 7u);
  EXPECT_TRUE(decision.is_lost);
  EXPECT_EQ(sets.find("a")->state, SetState::failed);
  EXPECT_EQ(sets.find("a")->message, "'x' is missing");
  EXPECT_EQ(sets.undrained(), 0u);
  EXPECT_FALSE(sets.observed("a", std::nullopt, "still").is_lost) << "once";
  EXPECT_TRUE(sets.observed("a", content("f"), {}).offer) << "it came back";
}

TEST(AgentSets, KeepsWhatIsCachedOffered) {
  AgentSets sets;
  end(sets, "a", 1, SetState::cached, 10);
  EXPECT_TRUE(sets.find("a")->is_offered());
  EXPECT_EQ(sets.undrained(), 0u);
  EXPECT_FALSE(sets.heard(news("a", 1, SetState::cached), 11)) << "it is known";
  EXPECT_TRUE(sets.heard(news("a", 1, SetState::durable), 12)) << "it was flushed";
  EXPECT_TRUE(sets.find("a")->is_offered()) << "the caches count on it";
  end(sets, "b", 2, SetState::durable, 13);
  EXPECT_FALSE(sets.find("b")->is_offered());
}

TEST(AgentSets, TheNewestSealedSetStaysAndOthersWait) {
  AgentSets sets;
  end(sets, "a", 1, SetState::cached, 10);
  EXPECT_TRUE(sets.removable(0).empty()) << "it is nowhere else";
  EXPECT_FALSE(sets.must_wait(1));
  sets.begin("b", 0, 5);
  sets.offered("b", content("g"), 2);
  EXPECT_TRUE(sets.removable(1).empty());
  EXPECT_TRUE(sets.must_wait(1)) << "a third set has no room before b is sealed";
  EXPECT_FALSE(sets.must_wait(2));
  ASSERT_TRUE(sets.heard(news("b", 2, SetState::cached, 2), 20));
  EXPECT_EQ(sets.removable(1), std::vector<std::string>{"a"});
  EXPECT_FALSE(sets.must_wait(1));
}

TEST(AgentSets, PartsOfTwoWritingsAreNotMixed) {
  AgentSets sets;
  EXPECT_FALSE(sets.begin("a", 0, 5).is_new);
  EXPECT_TRUE(sets.is_open_for("a", 1, 5));
  EXPECT_FALSE(sets.is_open_for("a", 1, 6));
  EXPECT_TRUE(sets.begin("a", 1, 6).is_new) << "what is there is of another attempt";
}

TEST(AgentSets, HearsOfTheCurrentExposureOnly) {
  AgentSets sets;
  sets.offered("a", content("f"), 7);
  EXPECT_FALSE(sets.heard(news("a", 6, SetState::durable), 1));
  EXPECT_FALSE(sets.heard(news("b", 7, SetState::durable), 1));
  EXPECT_FALSE(sets.heard(news("a", 7, SetState::draining), 1));
  EXPECT_EQ(sets.find("a")->state, SetState::draining);
  EXPECT_TRUE(sets.heard(news("a", 7, SetState::durable), 1));
  EXPECT_FALSE(sets.heard(news("a", 7, SetState::failed), 2));
  EXPECT_FALSE(sets.observed("a", content("f"), {}).offer) << "it is durable";
  EXPECT_TRUE(sets.observed("a", content("g"), {}).offer) << "the application has written it anew";
}

TEST(AgentSets, BeginsAnewWhatWasOfferedOrHasEnded) {
  AgentSets sets;
  EXPECT_FALSE(sets.begin("a", 0).is_new);
  EXPECT_FALSE(sets.begin("a", 1).is_new) << "another rank";
  EXPECT_EQ(sets.unfinished(), std::vector<std::string>{"a"});
  sets.offered("a", content("f"), 7);
  EXPECT_TRUE(sets.unfinished().empty());
  const auto begun = sets.begin("a", 0);
  EXPECT_TRUE(begun.is_new);
  EXPECT_EQ(begun.decision.withdraw, 7u);
  sets.offered("a", content("f"), 8);
  EXPECT_TRUE(sets.heard(news("a", 8, SetState::durable), 1));
  EXPECT_TRUE(sets.begin("a", 0).is_new);
  EXPECT_EQ(sets.find("a")->state, SetState::incomplete);
}

TEST(AgentSets, ARankThatComesLateTakesNothingFromTheOthers) {
  AgentSets sets;
  sets.begin("a", 0);
  sets.offered("a", content("f"), 7);  // rank 0 was known only, and is complete
  EXPECT_TRUE(sets.is_open_for("a", 1));
  const auto begun = sets.begin("a", 1);
  EXPECT_FALSE(begun.is_new);
  EXPECT_EQ(begun.decision.withdraw, 0u);
  EXPECT_TRUE(sets.find("a")->is_offered());
  EXPECT_FALSE(sets.is_open_for("a", 0)) << "rank 0 would write it anew";
}

TEST(AgentSets, KeepsTheNewestDurableSets) {
  AgentSets sets;
  end(sets, "d10", 10, SetState::durable, 1);
  end(sets, "d30", 30, SetState::durable, 2);
  end(sets, "d20", 20, SetState::durable, 3);
  end(sets, "s25", 25, SetState::skipped, 4);
  end(sets, "f5", 5, SetState::failed, 5);
  sets.offered("w40", content("f"), 9);
  const auto removable = sets.removable(1);
  EXPECT_EQ(std::set<std::string>(removable.begin(), removable.end()), (std::set<std::string>{"d10", "d20", "s25"}));
  EXPECT_EQ(sets.removable(2).size(), 2u);
  EXPECT_EQ(sets.removable(0).size(), 4u);
  for (const std::string& set : removable) sets.files_removed(set);
  EXPECT_TRUE(sets.removable(1).empty());
  EXPECT_EQ(sets.find("d10")->state, SetState::durable) << "who asks is told";
  EXPECT_EQ(sets.forgettable(2), std::vector<std::string>{"d10"});
  EXPECT_TRUE(sets.forgettable(3).empty());
}

// Until then nobody has anything newer than what was durable before it.
TEST(AgentSets, ASkippedSetStaysUntilOneThatWasCompletedLaterIsDurable) {
  AgentSets sets;
  end(sets, "d10", 10, SetState::durable, 1);
  end(sets, "s20", 20, SetState::skipped, 3, 2);
  sets.offered("w30", content("f", {}, 1), 9);
  EXPECT_TRUE(sets.removable(9).empty());
  end(sets, "f40", 40, SetState::failed, 5);
  end(sets, "c50", 50, SetState::cached, 6);
  EXPECT_TRUE(sets.removable(9).empty());
  sets.ended("back", {.state = SetState::durable, .step = 60, .ended_ns = 7, .restored_ns = 7}, true);
  EXPECT_TRUE(sets.removable(9).empty()) << "a restart has brought what was stored before";
  ASSERT_TRUE(sets.heard(news("w30", 9, SetState::durable, 30), 8));
  EXPECT_EQ(sets.removable(9), std::vector<std::string>{"s20"});
}

TEST(AgentSets, KeepTheirPlaceAsLongAsTheirFilesAreTheSame) {
  AgentSets sets;
  sets.offered("a", content("f"), 7);
  EXPECT_FALSE(sets.placed({.set = "a", .exposure = 6, .ordinal = 4})) << "of an earlier offer";
  EXPECT_EQ(sets.find("a")->ordinal, 0u);
  EXPECT_TRUE(sets.placed({.set = "a", .exposure = 7, .ordinal = 5}));
  sets.offered("a", content("f"), 8);
  EXPECT_EQ(sets.find("a")->ordinal, 5u);
  sets.offered("a", content("g"), 9);
  EXPECT_EQ(sets.find("a")->ordinal, 0u) << "it was written again, and comes behind the others";
  AgentSets after;  // another agent, which knows the notes only
  after.had_place("a", {5, "f"});
  after.had_place("b", {6, "f"});
  after.offered("a", content("f"), 1);
  after.offered("b", content("other"), 2);
  EXPECT_EQ(after.find("a")->ordinal, 5u);
  EXPECT_EQ(after.find("b")->ordinal, 0u);
}

// The node whose part it was had the place; that node may go next.
TEST(AgentSets, WhatIsMadeAgainHasThePlaceOfItsSet) {
  AgentSets sets;
  sets.rebuilt("a", {1}, 3);
  ASSERT_TRUE(sets.observed("a", content("f"), {}).offer);
  sets.offered("a", content("f"), 7);
  EXPECT_EQ(sets.find("a")->ordinal, 3u);
}

// A file of rank 0 was removed, and the part of rank 1 is made here: rank 0 is not waited for.
TEST(AgentSets, APartThatTakesThePlaceOfALostOneNeedsNobodyOfThat) {
  AgentSets sets;
  ASSERT_TRUE(sets.observed("a", content("f"), {}).offer);
  sets.offered("a", content("f"), 7);
  EXPECT_NE(sets.observed("a", std::nullopt, "'rank0' of rank 0 is missing").withdraw, 0u);
  sets.rebuilt("a", {1}, 3);
  EXPECT_EQ(sets.awaited("a", {0, 1}), std::set<uint32_t>{1});
}

TEST(AgentSets, WhatARankGivesUpIsForgottenWhenAllHave) {
  AgentSets sets;
  sets.begin("a", 0);
  sets.begin("a", 1);
  EXPECT_FALSE(sets.given_up("a", 0));
  EXPECT_TRUE(sets.given_up("a", 1));
  EXPECT_FALSE(sets.given_up("b", 0));
  ASSERT_TRUE(sets.observed("c", content("f"), {}).offer);
  sets.offered("c", content("f"), 7);
  EXPECT_FALSE(sets.given_up("c", 0)) << "it is complete";
  sets.resume("d", 7, {});
  EXPECT_FALSE(sets.given_up("d", 0)) << "other ranks may have files of it";
}

Outcome restored(uint64_t ordinal, int64_t at) {
  return {.state = SetState::durable, .fingerprint = "f", .ordinal = ordinal, .ended_ns = at, .restored_ns = at};
}

TEST(AgentSets, KeepsWhatARestartHasBroughtUntilThereIsMore) {
  AgentSets sets;
  sets.ended("r", restored(10, 5), true);
  EXPECT_TRUE(sets.removable(0).empty());
  EXPECT_FALSE(sets.observed("r", content("f"), {}).offer);
  end(sets, "d20", 20, SetState::durable, 6);
  EXPECT_EQ(sets.removable(1), std::vector<std::string>{"r"});
}

TEST(AgentSets, KeepsWhatARestartHasBroughtWhenAnEarlierRunsSetBecomesDurable) {
  AgentSets sets;
  sets.ended("r40", restored(40, 50), true);
  end(sets, "old70", 70, SetState::durable, 60, 30);
  EXPECT_TRUE(sets.removable(1).empty()) << "the application may be reading r40";
  AgentSets after;  // another agent, which knows the notes only
  for (const auto& [set, entry] : sets.entries()) after.ended(set, AgentSets::outcome_of(entry), true);
  EXPECT_TRUE(after.removable(1).empty());
  end(after, "new50", 50, SetState::durable, 80, 70);
  EXPECT_EQ(after.removable(1), (std::vector<std::string>{"new50", "r40"})) << "old70 is the newest";
}

TEST(AgentSets, KeepsWhatTheLastRestartHasBrought) {
  AgentSets sets;
  sets.ended("r40", restored(40, 50), true);
  sets.ended("r30", restored(30, 60), true);
  EXPECT_EQ(sets.removable(0), std::vector<std::string>{"r40"});
}

TEST(AgentSets, AwaitWhoHasBegunHereAndWhoIsConnectedAndNobodyElse) {
  AgentSets sets;
  EXPECT_EQ(sets.awaited("a", {0, 1}), (std::set<uint32_t>{0, 1}));
  sets.begin("a", 0);
  sets.begin("a", 1);
  EXPECT_EQ(sets.awaited("a", {0}), (std::set<uint32_t>{0, 1})) << "what rank 1 has begun is not complete";
  sets.started_again({2});
  EXPECT_EQ(sets.awaited("a", {2}), std::set<uint32_t>{2}) << "and will not be: it was started again elsewhere";
  sets.begin("a", 2);
  Content part = content("f");
  part.complete = {2};
  sets.offered("a", part, 1);
  EXPECT_EQ(sets.awaited("a", {2, 3}), std::set<uint32_t>{2}) << "a rank that joins later takes nothing back";
  sets.begin("a", 2);
  EXPECT_EQ(sets.awaited("a", {2, 3}), (std::set<uint32_t>{2, 3})) << "another writing";
}

TEST(AgentSets, EachLevelKeepsItsNewestSets) {
  AgentSets sets;
  for (uint64_t number = 1; number <= 6; ++number) {
    const std::string set = "s" + std::to_string(number);
    sets.begin(set, 0, 1, number % 3 == 0 ? "/ssd" : "");
    end(sets, set, number, SetState::durable, static_cast<int64_t>(number));
  }
  EXPECT_EQ(sets.removable(AgentSets::Keep{1, {{"/ssd", 2}}}), (std::vector<std::string>{"s4", "s2", "s1"}));
  EXPECT_EQ(sets.removable(AgentSets::Keep{9, {{"/ssd", 1}}}), std::vector<std::string>{"s3"});
  EXPECT_EQ(sets.removable(AgentSets::Keep{9, {{"/ssd", 0}}}), (std::vector<std::string>{"s6", "s3"}));
}

TEST(AgentSets, TheNewestCachedSetStaysWhereverItLies) {
  AgentSets sets;
  sets.begin("a", 0, 1, "/ssd");
  end(sets, "a", 1, SetState::cached, 1);
  EXPECT_TRUE(sets.removable(AgentSets::Keep{0, {{"/ssd", 0}}}).empty());
  sets.begin("b", 0, 1, "");
  end(sets, "b", 2, SetState::cached, 2);
  EXPECT_EQ(sets.removable(AgentSets::Keep{0, {{"/ssd", 0}}}), std::vector<std::string>{"a"});
}

TEST(AgentSets, RoomIsMadeByTheOldestAndNeverByTheNewest) {
  AgentSets sets;
  const auto add = [&](const std::string& set, uint64_t number, uint64_t bytes, SetState state) {
    sets.begin(set, 0, 1, "/ssd");
    sets.offered(set, content("f", {}, static_cast<int64_t>(number)), 1, bytes);
    if (state == SetState::incomplete) return;
    ASSERT_TRUE(sets.heard(news(set, 1, state, number), static_cast<int64_t>(number)));
  };
  EXPECT_TRUE(sets.room("/ssd", 10).fits) << "nothing is known yet";
  add("a", 1, 10, SetState::cached);
  add("b", 2, 20, SetState::durable);
  add("c", 3, 10, SetState::cached);
  EXPECT_TRUE(sets.room("/ssd", 60).leaving.empty());
  EXPECT_EQ(sets.room("/ssd", 59).leaving, std::vector<std::string>{"a"});
  EXPECT_EQ(sets.room("/ssd", 45).leaving, (std::vector<std::string>{"a", "b"}));
  const auto tight = sets.room("/ssd", 25);
  EXPECT_EQ(tight.leaving, (std::vector<std::string>{"a", "b"})) << "the newest one is never taken";
  EXPECT_FALSE(tight.fits || tight.may_come);
  EXPECT_TRUE(sets.room("/ssd", 0).fits) << "no limit";
  EXPECT_TRUE(sets.room("", 25).fits) << "another level";
  EXPECT_TRUE(sets.room("/ssd", 50, "c").leaving.empty()) << "what is begun anew goes anyway";
  EXPECT_EQ(sets.room("/ssd", 45, "c").leaving, std::vector<std::string>{"a"}) << "and is not the newest one";
  add("d", 4, 10, SetState::incomplete);
  EXPECT_TRUE(sets.room("/ssd", 25).may_come);
  EXPECT_FALSE(sets.room("/ssd", 25, "d").may_come) << "nobody waits for what he begins anew";
  sets.takes("a", 5);
  EXPECT_EQ(sets.room("/ssd", 63, "d").leaving, std::vector<std::string>{"a"}) << "with its parity";
}

}  // namespace
}  // namespace forebay::job
