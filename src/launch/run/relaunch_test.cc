#include "launch/run/relaunch.h"

#include <csignal>

#include <gtest/gtest.h>

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;

TEST(Relaunch, EndingsAsShellsHaveThem) {
  EXPECT_TRUE(Ending::of(0).good());
  EXPECT_EQ(Ending::of(3 << 8).as_exit_code(), 3);
  EXPECT_EQ(Ending::of(3 << 8).text(), "exit code 3");
  EXPECT_EQ(Ending::of(SIGKILL).as_exit_code(), 137);
  EXPECT_EQ(Ending::of(SIGKILL).text(), "signal 9 (Killed)");
}

TEST(Relaunch, OnlyACrashThatNobodyWanted) {
  EXPECT_TRUE(should_relaunch({3, 0}, false, false, 1));
  EXPECT_TRUE(should_relaunch({0, SIGKILL}, false, false, 1));
  EXPECT_FALSE(should_relaunch({0, 0}, false, false, 1));
  EXPECT_FALSE(should_relaunch({3, 0}, false, true, 1));
  EXPECT_FALSE(should_relaunch({3, 0}, false, false, 0));
  EXPECT_TRUE(should_relaunch({0, 0}, true, false, 1)) << "it hung, and ended well when it was told to";
  EXPECT_FALSE(should_relaunch({0, 0}, true, true, 1));
}

Sight sight(uint64_t sets_completed, uint64_t restarts, const std::string& set) {
  Sight seen;
  seen.generation = 1;
  seen.sets_completed = sets_completed;
  seen.restarts = restarts;
  seen.restarted_from = {set, set};
  return seen;
}

TEST(Attempt, IsWhatWasSeenBeforeAndAfter) {
  const Attempt attempt = attempt_between(sight(3, 1, "s2"), sight(3, 2, "s3"), true);
  EXPECT_FALSE(attempt.completed_a_set);
  EXPECT_EQ(attempt.from.set, "s3");
  EXPECT_TRUE(attempt.got_answer);
  EXPECT_FALSE(attempt_between(sight(3, 2, "s2"), sight(3, 2, "s2"), true).got_answer);
  EXPECT_TRUE(attempt_between(sight(3, 2, "s2"), sight(4, 2, "s2"), true).got_answer) << "it needed none";
  EXPECT_TRUE(attempt_between(std::nullopt, sight(3, 2, "s2"), true).got_answer) << "it is not known";
  EXPECT_TRUE(attempt_between(sight(3, 1, "s2"), sight(4, 2, "s3"), true).completed_a_set);
  EXPECT_EQ(attempt_between(sight(3, 2, "s2"), sight(3, 2, "s2"), true).from.set, "") << "it did not restart";
  EXPECT_TRUE(attempt_between(std::nullopt, sight(3, 2, "s3"), true).completed_a_set) << "it is not known";
  Sight other = sight(0, 2, "s3");
  other.generation = 2;
  EXPECT_TRUE(attempt_between(sight(3, 1, "s2"), other, true).completed_a_set) << "another coordinator counts";
}

TEST(RestartTrials, TwoAttemptsThatCompleteNoSetBlameTheOneTheyRestartedFrom) {
  RestartTrials trials(1s);
  const Attempt from_a{{"a", "a"}, false, true}, from_b{{"b", "b"}, false, true};
  EXPECT_FALSE(trials.ended(from_a).blames_set);
  EXPECT_TRUE(trials.ended(from_a).blames_set);
  EXPECT_FALSE(trials.ended(from_b).blames_set) << "another set";
  EXPECT_TRUE(trials.ended(from_b).blames_set);
}

TEST(RestartTrials, ACompletedSetClearsIt) {
  RestartTrials trials(1s);
  EXPECT_FALSE(trials.ended({{"a", "a"}, false, true}).blames_set);
  EXPECT_FALSE(trials.ended({{"a", "a"}, true, true}).blames_set);
  EXPECT_FALSE(trials.ended({{"a", "a"}, false, true}).blames_set);
}

TEST(RestartTrials, NobodyBlamesASetForALostNodeOrAnAttemptFromTheBeginning) {
  RestartTrials trials(1s);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(trials.ended({{"a", "a"}, false, false}).blames_set);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(trials.ended({{}, false, true}).blames_set);
}

TEST(RestartTrials, PausesDoubleUntilASetIsComplete) {
  RestartTrials trials(1s);
  const Attempt vain{{}, false, true};
  for (const auto expected : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) EXPECT_EQ(trials.ended(vain).pause, expected);
  EXPECT_EQ(trials.ended({{}, true, true}).pause, 1s);
  EXPECT_EQ(trials.ended(vain).pause, 1s);
  RestartTrials slow(300s);
  EXPECT_EQ(slow.ended(vain).pause, 300s);
  EXPECT_EQ(slow.ended(vain).pause, 300s) << "the user asked for more than the longest";
}

TEST(NodeTrials, TwoStartsThatDieOnANodeBeforeARankHasItsAnswerRetireIt) {
  NodeTrials trials;
  const Attempt vain{.completed_a_set = false, .got_answer = false};
  auto verdict = trials.ended(vain, {"b"}, 3, 1);
  EXPECT_TRUE(verdict.blames_nodes);
  EXPECT_TRUE(verdict.retire.empty());
  EXPECT_FALSE(trials.ended(vain, {}, 3, 1).blames_nodes) << "the application's own fault";
  verdict = trials.ended(vain, {"b", "c"}, 3, 2);
  EXPECT_TRUE(verdict.blames_nodes);
  EXPECT_EQ(verdict.retire, std::vector<std::string>{"b"});
  EXPECT_TRUE(trials.ended(vain, {"b"}, 3, 1).retire.empty()) << "it is counted from the beginning again";
}

TEST(NodeTrials, AnAttemptIsItsOwnFaultWhereRanksHadTheirAnswerOrNoSpareHelps) {
  NodeTrials trials;
  const Attempt vain{.completed_a_set = false, .got_answer = false}, better{.completed_a_set = false};
  EXPECT_FALSE(trials.ended(vain, {"a", "b"}, 3, 1).blames_nodes) << "one spare for two";
  EXPECT_FALSE(trials.ended(vain, {"a", "b"}, 2, 2).blames_nodes) << "this side is cut off";
  EXPECT_TRUE(trials.ended(vain, {"b"}, 3, 1).blames_nodes);
  EXPECT_FALSE(trials.ended(better, {"b"}, 3, 1).blames_nodes);
  EXPECT_TRUE(trials.ended(vain, {"b"}, 3, 1).retire.empty()) << "the one before the answer counts no more";
}

TEST(Revival, WaitsLongerAndGivesUp) {
  Revival revival;
  const Revival::Time start{};
  auto last = 0ms;
  for (size_t death = 0; death < Revival::kMostDeaths; ++death) {
    const auto pause = revival.after_death(start + death * 1s);
    ASSERT_TRUE(pause) << death;
    EXPECT_GT(*pause, last);
    last = *pause;
  }
  EXPECT_LE(last, 60s);
  EXPECT_FALSE(revival.after_death(start + 10s));
}

TEST(Revival, ForgetsOldDeaths) {
  Revival revival;
  const Revival::Time start{};
  for (int death = 0; death < 100; ++death) EXPECT_EQ(revival.after_death(start + death * 121s), 200ms) << death;
}

}  // namespace
}  // namespace forebay::launch
