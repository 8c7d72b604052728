#include "job/stage/stage_series.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "job/stage/stage_notes.h"
#include "job/test_job.h"

namespace forebay::job {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class StageSeriesTest : public TempTest {
 protected:
  StageSeriesTest() { check(prepare_stage(path("stage"))); }
  Result<void> take(const std::string& series) { return take_stage(path("stage"), series); }
  void write(const std::string& set) {
    fs::create_directories(path("stage/" + set));
    std::ofstream(path("stage/" + set + "/rank0")) << "x";
    check(note_seen(path("stage"), set));
  }
};

TEST_F(StageSeriesTest, SetsThatAreNotStoredAreNotTakenByAnotherSeries) {
  check(take("one"));
  write("s1");
  write("s2");
  check(note_outcome(path("stage"), "s1", {.state = wire::SetState::durable, .stored_as = "s1"}));
  check(take("one"));
  const Error refused = error(take("two"));
  EXPECT_EQ(refused.kind, ErrorKind::exists);
  EXPECT_THAT(refused.message(), testing::AllOf(HasSubstr("series one"), HasSubstr(": s2 ("), HasSubstr("--series one"),
                                                testing::Not(HasSubstr("s1"))));
  check(note_outcome(path("stage"), "s2", {.state = wire::SetState::durable, .stored_as = "s2"}));
  check(take("two"));
  write("s3");
  EXPECT_FALSE(take("one")) << "it is the other one's now";
}

TEST_F(StageSeriesTest, WhatNoAgentHasSeenComeIsNoSetOfAnySeries) {
  check(take("one"));
  write("mesh");
  forget_seen(path("stage"), "mesh");
  check(take("two"));
}

TEST_F(StageSeriesTest, WhatLiesInAStageThatWasNobodysIsTaken) {
  write("s1");
  check(take("one"));
}

}  // namespace
}  // namespace forebay::job
