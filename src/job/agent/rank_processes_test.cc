#include "job/agent/rank_processes.h"

#include <csignal>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace forebay::job {
namespace {

using namespace std::chrono_literals;

TEST(UsedTime, NeverDecreases) {
  UsedTime used;
  used.see({{7, {1, 500ms}}, {8, {1, 100ms}}});
  EXPECT_EQ(used.total(), 600ms);
  used.see({{7, {1, 700ms}}});
  EXPECT_EQ(used.total(), 800ms) << "one has ended";
  used.see({{7, {2, 50ms}}});
  EXPECT_EQ(used.total(), 850ms) << "another one has its number";
}

// A child with the variable, which computes; one without it is added by number.
TEST(RankProcesses, AreFoundByTheirEnvironmentOrNamed) {
  const auto start = [](const char* script, const char* variable) {
    const pid_t pid = ::fork();
    if (pid == 0) ::execl("/usr/bin/env", "env", variable, "sh", "-c", script, nullptr);
    return pid;
  };
  const std::string place = fmt::format("/tmp/rendezvous-{}", ::getpid());
  const pid_t ours = start("while :; do :; done", ("FOREBAY_RENDEZVOUS=" + place).c_str());
  const pid_t other = start("while :; do :; done", ("FOREBAY_RENDEZVOUS=" + place + "2").c_str());
  const pid_t named = start("exec sleep 100", "A=B");
  RankProcesses processes(place);
  processes.add(named);
  for (int i = 0; i < 400 && (processes.usage().processes < 2 || processes.usage().processor_time < 100ms); ++i)
    std::this_thread::sleep_for(25ms);
  EXPECT_EQ(processes.usage().processes, 2u);
  EXPECT_GE(processes.usage().processor_time, 100ms);
  for (const pid_t pid : {ours, other, named}) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
}

}  // namespace
}  // namespace forebay::job
