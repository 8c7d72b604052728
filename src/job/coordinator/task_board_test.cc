#include "job/coordinator/task_board.h"

#include <gmock/gmock.h>

namespace forebay::job {
namespace {

using namespace std::chrono_literals;

class TaskBoardTest : public testing::Test {
 protected:
  // (unit, worker) of what is started.
  std::vector<std::pair<UnitId, WorkerId>> start() {
    std::vector<std::pair<UnitId, WorkerId>> pairs;
    for (const auto& attempt : board.start(now)) {
      pairs.emplace_back(*attempt.unit, attempt.worker);
      attempts[attempt.worker] = attempt.id;
    }
    return pairs;
  }
  using Pairs = std::vector<std::pair<UnitId, WorkerId>>;

  TaskBoard::Time now{100h};
  TaskBoard board{10s};
  std::map<WorkerId, AttemptId> attempts;  // the latest of each
};

TEST_F(TaskBoardTest, WorkersGetWhatIsNearThem) {
  board.add({1}, 1, "a", true);
  board.add({2}, 1, "b", true);
  board.add({3}, 1, "b", true);
  board.worker_joined(10, "b", 1);
  board.worker_joined(11, "a", 1);
  board.worker_joined(12, "c", 1);
  EXPECT_EQ(start(), (Pairs{{{2}, 10}, {{1}, 11}, {{3}, 12}}));
  EXPECT_EQ(start(), Pairs{});
}

TEST_F(TaskBoardTest, WhatIsMoreImportantComesFirstEvenFromFar) {
  board.add({1}, 1, "a", true);
  board.add({2}, 0, "b", true);
  board.worker_joined(10, "a", 1);
  EXPECT_EQ(start(), (Pairs{{{2}, 10}}));
}

TEST_F(TaskBoardTest, AUnitThatIsNotReadyWaits) {
  board.add({1}, 1, "a", false);
  board.worker_joined(10, "a", 1);
  EXPECT_EQ(start(), Pairs{});
  board.set_ready({1}, true);
  board.set_ready({1}, false);
  EXPECT_EQ(start(), Pairs{});
  board.set_ready({1}, true);
  EXPECT_EQ(start(), (Pairs{{{1}, 10}}));
}

TEST_F(TaskBoardTest, AUnitOfALostWorkerGoesToAnotherOne) {
  board.add({1}, 1, "a", true);
  board.worker_joined(10, "a", 1);
  start();
  EXPECT_EQ(board.worker_left(10), std::vector{UnitId{1}});
  EXPECT_EQ(board.losses({1}), 1u);
  board.worker_joined(11, "z", 1);
  EXPECT_EQ(start(), (Pairs{{{1}, 11}}));
  EXPECT_EQ(board.ended(11, attempts[11], true), UnitId{1});
  EXPECT_TRUE(board.remove({1}).empty());
  EXPECT_TRUE(board.worker_left(11).empty());
}

TEST_F(TaskBoardTest, FailuresPauseLongerAndLonger) {
  board.add({1}, 1, "a", true);
  board.worker_joined(10, "a", 1);
  for (const auto pause : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    ASSERT_EQ(start().size(), 1u);
    EXPECT_EQ(board.ended(10, attempts[10], false), UnitId{1});
    board.failed({1}, now);
    now += pause - 1ms;
    EXPECT_EQ(start(), Pairs{}) << pause.count();
    now += 1ms;
  }
}

TEST_F(TaskBoardTest, AStalledWorkerIsToldOnceAndBusyUntilItAnswers) {
  board.add({1}, 1, "a", true);
  board.worker_joined(10, "a", 1);
  start();
  now += 6s;
  board.progressed(10, attempts[10], 0, 0, 1, now);  // there are no bytes yet, but it moves
  now += 6s;
  EXPECT_TRUE(board.stalled(now).empty());
  board.progressed(10, attempts[10], 5, 0, 1, now);
  now += 6s;
  EXPECT_TRUE(board.stalled(now).empty());
  board.progressed(10, attempts[10], 5, 0, 1, now);  // says nothing new
  now += 4s;
  ASSERT_EQ(board.stalled(now).size(), 1u);
  EXPECT_TRUE(board.stalled(now + 100s).empty());
  EXPECT_EQ(start(), Pairs{}) << "the only worker is busy";
  board.worker_joined(11, "a", 1);
  EXPECT_EQ(start(), (Pairs{{{1}, 11}}));
  EXPECT_EQ(board.ended(10, attempts[10], false), std::nullopt);
  EXPECT_TRUE(board.attempts_of(10).empty());
}

TEST_F(TaskBoardTest, AStalledWorkerThatWakesUpInTimeCounts) {
  board.add({1}, 1, "a", true);
  board.worker_joined(10, "a", 1);
  start();
  now += 10s;
  board.stalled(now);
  board.worker_joined(11, "a", 1);
  start();
  EXPECT_EQ(board.ended(10, attempts[10], true), UnitId{1});
  const auto cancelled = board.remove({1});
  ASSERT_EQ(cancelled.size(), 1u);
  EXPECT_EQ(cancelled[0].worker, 11u);
  board.add({1}, 1, "a", true);
  EXPECT_EQ(start(), (Pairs{{{1}, 10}})) << "the other one has not answered yet";
  EXPECT_EQ(board.ended(11, attempts[11], true), std::nullopt) << "of the one that was removed";
  EXPECT_EQ(board.ended(10, attempts[10], true), UnitId{1});
}

TEST_F(TaskBoardTest, TimeInWhichNobodyWasHeardIsForgiven) {
  board.add({1}, 1, "a", true);
  board.worker_joined(10, "a", 1);
  start();
  now += 100s;
  board.forgive(95s);
  EXPECT_TRUE(board.stalled(now).empty());
  EXPECT_EQ(board.stalled(now + 5s).size(), 1u);
}

TEST_F(TaskBoardTest, WhatWasNeverGivenDoesNotEnd) {
  board.add({1}, 1, "a", true);
  board.worker_joined(10, "a", 1);
  start();
  EXPECT_EQ(board.ended(10, attempts[10] + 1, true), std::nullopt);
  EXPECT_EQ(board.ended(11, attempts[10], true), std::nullopt);
  EXPECT_EQ(board.ended(10, 0, true), std::nullopt);
  EXPECT_EQ(board.attempts_of(10).size(), 1u);
}

TEST_F(TaskBoardTest, StreamsOfAWorkerAreFilledWhenAllWorkersHaveWork) {
  for (uint64_t unit = 1; unit <= 5; ++unit) board.add({unit}, 1, "a", true);
  board.worker_joined(10, "a", 3);
  board.worker_joined(11, "b", 1);
  EXPECT_EQ(start(), (Pairs{{{1}, 10}, {{2}, 11}, {{3}, 10}, {{4}, 10}}));
  EXPECT_EQ(board.attempts_of(10).size(), 3u);
  const AttemptId first = board.attempts_of(10).front().first.id;
  EXPECT_EQ(board.ended(10, first, true), UnitId{1});
  board.remove({1});
  EXPECT_EQ(start(), (Pairs{{{5}, 10}}));
}

TEST_F(TaskBoardTest, AWorkerThatSaysThatFewerStreamsPayGetsNoMore) {
  for (uint64_t unit = 1; unit <= 3; ++unit) board.add({unit}, 1, "a", true);
  board.worker_joined(10, "a", 2);
  EXPECT_EQ(start().size(), 2u);
  board.set_streams(10, 1);
  EXPECT_TRUE(board.ended(10, board.attempts_of(10).front().first.id, true));
  EXPECT_EQ(start(), Pairs{});
  board.set_streams(10, 2);
  EXPECT_EQ(start(), (Pairs{{{3}, 10}}));
}

TEST_F(TaskBoardTest, AllUnitsOfALostWorkerWaitAgain) {
  for (uint64_t unit = 1; unit <= 2; ++unit) board.add({unit}, 1, "a", true);
  board.worker_joined(10, "a", 2);
  start();
  EXPECT_EQ(board.worker_left(10), (std::vector<UnitId>{{1}, {2}}));
  board.worker_joined(11, "a", 4);
  EXPECT_EQ(start(), (Pairs{{{1}, 11}, {{2}, 11}}));
}

TEST_F(TaskBoardTest, OtherStreamsOfAWorkerThatHangsGetNothing) {
  board.add({1}, 1, "a", true);
  board.worker_joined(10, "a", 4);
  start();
  now += 10s;
  ASSERT_EQ(board.stalled(now).size(), 1u);
  EXPECT_EQ(start(), Pairs{});
  EXPECT_EQ(board.losses({1}), 1u);
  EXPECT_EQ(board.ended(10, attempts[10], false), std::nullopt);
  EXPECT_EQ(start(), (Pairs{{{1}, 10}}));
}

}  // namespace
}  // namespace forebay::job
