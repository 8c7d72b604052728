// Which job a command means, of those that a store has.
#include "cli/control.h"

#include <gmock/gmock.h>

namespace forebay::cli {
namespace {

using job::JobState;
using testing::HasSubstr;

job::JobEntry job_of(const std::string& id, JobState state) {
  job::JobEntry entry{.id = id, .path = "st/jobs/" + id, .state = state};
  if (state != JobState::unknown && state != JobState::ended) entry.lease.emplace().holder.host = "n" + id;
  return entry;
}

TEST(ChooseJob, TakesTheOneThatRunsWhateverElseIsThere) {
  const auto chosen = choose_job({job_of("1", JobState::ended), job_of("2", JobState::silent),
                                  job_of("3", JobState::running), job_of("4", JobState::unknown)},
                                 "", "st");
  ASSERT_TRUE(chosen) << chosen.error().message();
  EXPECT_EQ(*chosen, "st/jobs/3");
}

TEST(ChooseJob, TakesTheOneThatMayRunWhereNoneIsSureTo) {
  EXPECT_EQ(choose_job({job_of("1", JobState::died), job_of("2", JobState::silent)}, "", "st").value(), "st/jobs/2");
  EXPECT_EQ(choose_job({job_of("1", JobState::ended), job_of("2", JobState::unknown)}, "", "st").value(), "st/jobs/2");
}

TEST(ChooseJob, NamesThoseThatRunWhereItCannotKnow) {
  const auto two = choose_job({job_of("1", JobState::running), job_of("2", JobState::running)}, "", "st");
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().kind, ErrorKind::not_found);
  EXPECT_THAT(two.error().message(), HasSubstr("2 jobs run: 1 on n1, 2 on n2"));
  const auto perhaps = choose_job({job_of("1", JobState::silent), job_of("2", JobState::unknown)}, "", "st");
  ASSERT_FALSE(perhaps);
  EXPECT_THAT(perhaps.error().message(), HasSubstr("1 on n1 (silent for"));
}

TEST(ChooseJob, SaysThatNoneRuns) {
  const auto none = choose_job({}, "", "st");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message(), HasSubstr("no job of 'forebay run' runs"));
  EXPECT_THAT(none.error().message(), testing::Not(HasSubstr("--history")));
  const auto ended = choose_job({job_of("1", JobState::ended)}, "", "s t");
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().message(), HasSubstr("--history --store 's t'"));
}

TEST(ChooseJob, AJobThatIsNamedIsTakenUnlessItIsOver) {
  const std::vector jobs = {job_of("1", JobState::ended), job_of("2", JobState::silent), job_of("3", JobState::running),
                            job_of("5", JobState::died)};
  EXPECT_EQ(choose_job(jobs, "2", "st").value(), "st/jobs/2");
  for (const char* over : {"1", "5"})
    EXPECT_THAT(choose_job(jobs, over, "st").error().message(), HasSubstr("does not run any more")) << over;
  EXPECT_EQ(choose_job(jobs, "4", "st").error().kind, ErrorKind::not_found);
  EXPECT_FALSE(choose_job(jobs, "../x", "st"));
}

}  // namespace
}  // namespace forebay::cli
