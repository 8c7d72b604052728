#include "job/coordinator/cadence.h"

#include <gtest/gtest.h>

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

// As a coordinator does it, whose facts have the pace.
struct Measured {
  explicit Measured(Cadence::Time start) : cadence(start, pace) {}
  void completed(const std::string& set, double cost, Cadence::Time now) {
    if (const auto sample = cadence.completed(set, cost, now)) pace.add(*sample);
  }
  void restarted() {
    pace.restarted();
    cadence.restarted();
  }
  MeasuredRun measured(Cadence::Time now) const { return cadence.measured(now); }
  auto late(Cadence::Time now, std::chrono::milliseconds least) const { return cadence.late(now, least); }
  void rests(Cadence::Time now) { cadence.rests(now); }

  Pace pace;
  Cadence cadence;
};

TEST(Cadence, TellsWhatIsUsual) {
  const Cadence::Time start{};
  Measured cadence(start);
  EXPECT_FALSE(advise(cadence.measured(start + seconds(100))));
  for (int set = 1; set <= 9; ++set)
    cadence.completed("s" + std::to_string(set), set == 5 ? 400 : 2, start + seconds(60 * set));
  cadence.completed("s9", 2, start + seconds(900));  // it was drained anew
  const MeasuredRun measured = cadence.measured(start + seconds(1000));
  EXPECT_EQ(cadence.cadence.sets(), 9u);
  EXPECT_DOUBLE_EQ(measured.seconds, 1000);
  EXPECT_DOUBLE_EQ(measured.interval, 60);
  EXPECT_DOUBLE_EQ(measured.set_seconds, 2) << "one that took long changes little";
  EXPECT_EQ(measured.failures, 0u);
  const auto advice = advise(measured);
  ASSERT_TRUE(advice);
  EXPECT_GT(advice->best_efficiency, 0.9);
}

TEST(Cadence, AStartIsNoFailureButThoseAfterASetAre) {
  const Cadence::Time start{};
  Measured cadence(start);
  cadence.restarted();
  EXPECT_EQ(cadence.measured(start).failures, 0u);
  cadence.completed("a", 1, start + seconds(10));
  cadence.restarted();
  cadence.restarted();
  EXPECT_EQ(cadence.measured(start).failures, 1u) << "it did not get as far as a set";
  cadence.completed("b", 1, start + seconds(1000));
  cadence.completed("c", 1, start + seconds(1020));
  EXPECT_DOUBLE_EQ(cadence.measured(start + seconds(1020)).interval, 20) << "the time of the restart is no interval";
}

TEST(Cadence, OnlyTheLatestSetsCount) {
  const Cadence::Time start{};
  Measured cadence(start);
  int now = 0;
  for (int set = 0; set < 40; ++set) cadence.completed(std::to_string(set), 1, start + seconds(now += 10));
  for (int set = 40; set < 80; ++set) cadence.completed(std::to_string(set), 3, start + seconds(now += 50));
  EXPECT_DOUBLE_EQ(cadence.measured(start).interval, 50);
  EXPECT_DOUBLE_EQ(cadence.measured(start).set_seconds, 3);
}

TEST(Cadence, ThreeIntervalsWithoutASetAreSaid) {
  const Cadence::Time start{100h};
  Measured cadence(start);
  cadence.completed("a", 1, start + 10s);
  cadence.completed("b", 1, start + 20s);
  EXPECT_FALSE(cadence.late(start + 1h, 1s)) << "one interval says little";
  cadence.completed("c", 1, start + 30s);
  EXPECT_FALSE(cadence.late(start + 59s, 1s));
  const auto late = cadence.late(start + 60s, 1s);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->seconds, 30);
  EXPECT_EQ(late->interval, 10);
  EXPECT_FALSE(cadence.late(start + 60s, 31s)) << "intervals may be very short";
  cadence.rests(start + 60s);
  EXPECT_FALSE(cadence.late(start + 89s, 1s)) << "a restart takes its time";
  EXPECT_TRUE(cadence.late(start + 90s, 1s));
  cadence.completed("", 0, start + 90s);
  EXPECT_FALSE(cadence.late(start + 100s, 1s)) << "a set that nobody has begun is one, too";
}

}  // namespace
}  // namespace forebay::job
