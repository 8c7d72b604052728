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

TEST(ProcessTimes, AreReadBehindWhateverNameThereIs) {
  const auto line = [](const char* name, char state) {
    return fmt::format("77 ({}) {} 1 77 77 0 -1 4194560 90 0 0 0 1200 34 0 0 20 0 1 0 5551 9 9\n", name, state);
  };
  const ProcessTimes expected{5551, 12'340ms};
  EXPECT_EQ(parse_process_times(line("app", 'S'), 100), expected);
  EXPECT_EQ(parse_process_times(line("a) R 1 2 (b", 'R'), 100), expected);
  EXPECT_EQ(parse_process_times(line("app", 'Z'), 100), std::nullopt);
  EXPECT_EQ(parse_process_times("77 (app) S 1 77", 100), std::nullopt);
  EXPECT_EQ(parse_process_times("", 100), std::nullopt);
}

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
