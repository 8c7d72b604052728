#include "launch/run/batch.h"

#include <map>

#include <gmock/gmock.h>

#include "launch/test_launch.h"

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::optional<BatchJob> job_in(const std::map<std::string, std::string>& variables) {
  return batch_job([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
}

BatchJob with_tasks(const std::string& tasks) {
  return *job_in({{"SLURM_JOB_ID", "4711"}, {"SLURM_JOB_NODELIST", "n[1-4]"}, {"SLURM_TASKS_PER_NODE", tasks}});
}

TEST(BatchJob, OfSlurm) {
  const BatchJob job = with_tasks("2(x4)");
  EXPECT_EQ(job.name, "Slurm job 4711");
  EXPECT_THAT(job.hosts_command, ElementsAre("scontrol", "show", "hostnames", "n[1-4]"));
  EXPECT_THAT(job.left_command, testing::Contains("4711"));
  EXPECT_FALSE(job_in({}));
  EXPECT_FALSE(job_in({{"SLURM_JOB_ID", "4711"}})) << "what started this process was no job with nodes";
  EXPECT_FALSE(job_in({{"PBS_JOBID", "1"}}));
}

TEST(BatchJob, TheNodesOfAnAllocation) {
  const auto nodes = value(parse_allocation(with_tasks("2(x3),1"), "n1\nn2\nn3\nn4\n"));
  EXPECT_THAT(nodes.hosts, ElementsAre("n1", "n2", "n3", "n4"));
  const auto placed = place_ranks(nodes, 7);
  EXPECT_THAT(placed, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5), ElementsAre(6)));
  EXPECT_THAT(place_ranks(value(parse_allocation(with_tasks(""), "a\n\nb")), 2),
              ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_THAT(place_ranks(value(parse_allocation(with_tasks("3"), "a\nb\n")), 6),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5)));
}

TEST(BatchJob, WhatMakesNoSenseIsRefused) {
  for (const char* tasks : {"x", "0", "2(3)", "2(x)", "2(x3", "2(x0)", "-1", "2(x99999999)", "1,,2", "2000000"})
    EXPECT_THAT(error(parse_allocation(with_tasks(tasks), "a\n")).message(), HasSubstr("4711")) << tasks;
  for (const char* hosts : {"", "\n", "slurm_load_jobs error: no", "-oProxyCommand=x"})
    EXPECT_FALSE(parse_allocation(with_tasks("1"), hosts)) << hosts;
}

TEST(BatchJob, TheTimeThatIsLeft) {
  EXPECT_EQ(value(parse_time_left("5:03\n")), 303s);
  EXPECT_EQ(value(parse_time_left(" 0:00 ")), 0s);
  EXPECT_EQ(value(parse_time_left("59:59")), 3599s);
  EXPECT_EQ(value(parse_time_left("1:00:01")), 3601s);
  EXPECT_EQ(value(parse_time_left("2-03:04:05")), 2 * 24h + 3h + 4min + 5s);
  EXPECT_EQ(value(parse_time_left("UNLIMITED\n")), std::nullopt);
  for (const char* text : {"", "NOT_SET", "INVALID", "12", "1:2:3:4", "1-2:03", "a:1", "1:b", "1:", ":1", "-1:00",
                           "1--1:00:00", "slurm_load_jobs error: Invalid job id specified", "99999999999:00"})
    EXPECT_FALSE(parse_time_left(text)) << text;
}

}  // namespace
}  // namespace forebay::launch
