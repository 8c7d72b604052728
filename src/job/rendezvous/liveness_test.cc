#include "job/rendezvous/liveness.h"

#include "job/test_job.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;

const Holder kHolder{.host = "n1",
                     .processes = "boot pid:[1]",
                     .pid = 4711,
                     .pid_started = 99,
                     .began_seconds = 1'700'000'000,
                     .command = "mpiexec ./app"};

Life life_of(const Traces& traces) { return judge(kHolder, traces); }

TEST(Liveness, AProcessThatCanBeLookedUpIsAliveOrNotWhateverTheLeaseSays) {
  EXPECT_EQ(life_of({.same_processes = true, .pid_started = 99, .silence = 30 * 24h}), Life::living);
  EXPECT_EQ(life_of({.same_processes = true, .pid_started = {}, .silence = 0s}), Life::dead);
  EXPECT_EQ(life_of({.same_processes = true, .pid_started = 100, .silence = 0s}), Life::dead) << "a later process";
}

TEST(Liveness, ElsewhereTheLeaseCounts) {
  EXPECT_EQ(life_of({.silence = 0s}), Life::living);
  EXPECT_EQ(life_of({.silence = kLease - 1s}), Life::living);
  EXPECT_EQ(life_of({.silence = kLease}), Life::silent);
  EXPECT_EQ(life_of({.silence = kForgotten - 1s}), Life::silent);
  EXPECT_EQ(life_of({.silence = kForgotten}), Life::dead);
  EXPECT_EQ(life_of({.pid_started = 99, .silence = kLease}), Life::silent) << "of some process here";
  EXPECT_GT(kLease, 3 * kRenewal);
}

TEST(Liveness, EveryFlippedBitOfALeaseIsNoticed) {
  const std::string good = seal_holder(kHolder);
  EXPECT_EQ(value(parse_holder(good, "p")), kHolder);
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_EQ(error(parse_holder(bad, "p")).kind, ErrorKind::corrupt) << bit;
  }
}

TEST(Liveness, TheStartOfAProcessIsReadBehindItsName) {
  const std::string rest = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 1234 20 21";
  EXPECT_EQ(parse_process_start("12 (a) R " + rest), 1234u);
  EXPECT_EQ(parse_process_start("12 (a) b (c) 1 2) S " + rest + "\n"), 1234u);
  EXPECT_FALSE(parse_process_start("12 (a) Z " + rest)) << "has ended";
  EXPECT_FALSE(parse_process_start("12 (a) X " + rest));
  EXPECT_FALSE(parse_process_start("12 (a) R 1 2 3"));
  EXPECT_FALSE(parse_process_start("12 (a"));
  EXPECT_FALSE(parse_process_start("12 (a)"));
  EXPECT_FALSE(parse_process_start("12 (a) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 12x4 20"));
  EXPECT_FALSE(parse_process_start(""));
}

}  // namespace
}  // namespace forebay::job
