#include "job/rendezvous/series_claim.h"

#include <ctime>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/test_job.h"

namespace forebay::job {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(JudgeRival, ByTheProcessOrTheLease) {
  LeaseSeen seen;
  seen.looked_up = true;
  EXPECT_EQ(judge_rival(seen, false), Rival::lives);
  seen.looked_up = false;
  EXPECT_EQ(judge_rival(seen, false), Rival::wait) << "of another node: it may have died since the last renewal";
  EXPECT_EQ(judge_rival(seen, true), Rival::lives);
  for (const Life life : {Life::silent, Life::dead}) {
    seen.life = life;
    EXPECT_EQ(judge_rival(seen, false), Rival::is_gone);
  }
}

class SeriesClaimTest : public TempTest {
 protected:
  Result<SeriesClaim> take(const std::string& series) {
    return SeriesClaim::take(path(""), series, "./app", [this](const std::string& text) { said_ += text + "\n"; });
  }
  // As a run leaves it that is killed.
  std::string leave(const std::string& name, const Holder& holder) {
    fs::create_directories(path("runs"));
    check(write_lease(path("runs"), name, holder));
    return path("runs/" + name);
  }
  static Holder dead() {
    Holder holder = value(this_holder("./dead"));
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    holder.pid = static_cast<uint64_t>(child);
    return holder;
  }
  std::string said_;
};

TEST_F(SeriesClaimTest, IsOfOneRunAtATime) {
  std::optional<SeriesClaim> first = value(take("s"));
  const Error refused = error(take("s"));
  EXPECT_EQ(refused.kind, ErrorKind::exists);
  EXPECT_THAT(refused.message(), testing::AllOf(HasSubstr(std::to_string(::getpid())), HasSubstr("./app"),
                                                HasSubstr("--series"), HasSubstr("UTC")));
  EXPECT_TRUE(take("s2")) << "another series";
  first->release();
  EXPECT_TRUE(take("s"));
}

TEST_F(SeriesClaimTest, OfADeadRunIsTakenOver) {
  const std::string left = leave("s.0123456789abcdef", dead());
  EXPECT_TRUE(take("s"));
  EXPECT_FALSE(fs::exists(left));
  EXPECT_THAT(said_, HasSubstr("./dead"));
}

TEST_F(SeriesClaimTest, OfANodeThatIsSilentIsTakenOver) {
  Holder holder = value(this_holder("./app"));
  holder.processes = "another boot";
  const std::string left = leave("s.0123456789abcdef", holder);
  const timespec then{std::time(nullptr) - kLease.count() - 60, 0};
  const timespec times[] = {then, then};
  ASSERT_EQ(::utimensat(AT_FDCWD, left.c_str(), times, 0), 0);
  EXPECT_TRUE(take("s"));
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(SeriesClaimTest, WhatIsNoClaimOfTheSeriesIsNotTouched) {
  const std::string other = leave("s.s.0123456789abcdef", dead()), odd = leave("s.notes", dead());
  EXPECT_TRUE(take("s"));
  EXPECT_TRUE(fs::exists(other) && fs::exists(odd));
}

}  // namespace
}  // namespace forebay::job
