#include "cli/control_group.h"

#include <map>

#include <gmock/gmock.h>

namespace forebay::cli {
namespace {

using Files = std::map<std::string, std::string>;

GroupLimits limits(std::string_view memberships, const Files& files) {
  return group_limits(memberships, [&](const std::string& path) {
    const auto found = files.find(path);
    return found == files.end() ? "" : found->second;
  });
}

TEST(ControlGroup, HasNoLimitWhereNothingIsSaid) {
  const GroupLimits none =
      limits("0::/\n", {{"/sys/fs/cgroup/memory.max", "max\n"}, {"/sys/fs/cgroup/cpu.max", "max 100000\n"}});
  EXPECT_FALSE(none.memory);
  EXPECT_EQ(none.processors, 0);
  EXPECT_FALSE(limits("", {}).memory);
  EXPECT_FALSE(limits("nonsense\n1:memory\n", {}).memory);
}

TEST(ControlGroup, TakesTheTightestLimitOfVersion2) {
  const GroupLimits found =
      limits("0::/slurm/job_7/step_0\n", {{"/sys/fs/cgroup/slurm/memory.max", "9000\n"},
                                          {"/sys/fs/cgroup/slurm/job_7/memory.max", "4000\n"},
                                          {"/sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n"},
                                          {"/sys/fs/cgroup/slurm/cpu.max", "150000 100000\n"},
                                          {"/sys/fs/cgroup/cpu.max", "400000 100000\n"}});
  EXPECT_EQ(found.memory, 4000u);
  EXPECT_DOUBLE_EQ(found.processors, 1.5);
}

TEST(ControlGroup, ReadsVersion1) {
  const GroupLimits found = limits("4:memory:/job\n2:cpu,cpuacct:/job\n",
                                   {{"/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648\n"},
                                    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
                                    {"/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000"},
                                    {"/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000"},
                                    {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1"},
                                    {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"}});
  EXPECT_EQ(found.memory, 2147483648u);
  EXPECT_DOUBLE_EQ(found.processors, 0.5);
  EXPECT_FALSE(limits("4:memory:/", {{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712"}}).memory);
}

// A container sees its group as the root, but /proc/self/cgroup may name it as the host does.
TEST(ControlGroup, FallsBackToTheTopmostThatIsSeen) {
  EXPECT_EQ(limits("0::/kubepods/pod1/abc\n", {{"/sys/fs/cgroup/memory.max", "1000"}}).memory, 1000u);
}

}  // namespace
}  // namespace forebay::cli
