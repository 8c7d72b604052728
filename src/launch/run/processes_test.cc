#include "launch/run/processes.h"

#include <chrono>
#include <csignal>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

namespace forebay::launch {
namespace {

using testing::Contains;
using testing::ElementsAre;
using namespace std::chrono_literals;

std::string read_all(const Fd& from) {
  std::string text;
  char buffer[256];
  for (int round = 0; round < 100; ++round) {
    pollfd wait{from.get(), POLLIN, 0};
    if (::poll(&wait, 1, 100) <= 0) continue;
    const ssize_t got = ::read(from.get(), buffer, sizeof buffer);
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  return text;
}

Ending wait_for(pid_t pid) {
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return Ending::of(status);
}

TEST(Processes, TalkThroughPipesAndKnowTheirEnvironment) {
  ::setenv("FOREBAY_TEST_A", "old", 1);
  auto process = spawn({.words = {"sh", "-c", "read line; echo \"$line $FOREBAY_TEST_A$FOREBAY_TEST_B\"; exit 3"},
                        .environment = {{"FOREBAY_TEST_A", "new"}, {"FOREBAY_TEST_B", "er"}},
                        .piped = true});
  ASSERT_TRUE(process) << process.error().message();
  ASSERT_EQ(::write(process->in.get(), "hi\n", 3), 3);
  EXPECT_EQ(read_all(process->out), "hi newer\n");
  EXPECT_EQ(wait_for(process->pid).exit_code, 3);
}

TEST(Processes, SeeTheirLifelineEnd) {
  auto process = spawn({.words = {"cat"}, .piped = true});
  ASSERT_TRUE(process);
  process->in = Fd();
  EXPECT_TRUE(wait_for(process->pid).good());
}

TEST(Processes, AreAskedForWhatTheyPrint) {
  EXPECT_EQ(output_of({"sh", "-c", "cat; echo a; echo b"}, 10s).value(), "a\nb\n");
  const auto failed = output_of({"sh", "-c", "echo a; exit 3"}, 10s);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().what.find("exit code 3"), std::string::npos);
  EXPECT_EQ(output_of({"/nonexistent/program"}, 10s).error().kind, ErrorKind::not_found);
  EXPECT_EQ(output_of({"sleep", "100"}, 50ms).error().kind, ErrorKind::timeout);
  EXPECT_TRUE(reap().empty());
}

TEST(Processes, DoWhatMayHang) {
  EXPECT_TRUE(done_in_child([] {}, 10s));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(done_in_child([] { ::pause(); }, 50ms));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  for (int i = 0; i < 1000 && reap().empty(); ++i) std::this_thread::sleep_for(10ms);
}

TEST(Processes, AreNotBlockedFromSignals) {
  sigset_t all, before;
  sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, &before);
  auto process = spawn({.words = {"sleep", "100"}, .own_session = true});
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(process);
  EXPECT_NE(::getpgid(process->pid), ::getpgid(0));
  EXPECT_THAT(children(), Contains(process->pid));
  ::kill(process->pid, SIGTERM);
  EXPECT_EQ(wait_for(process->pid).signal, SIGTERM);
}

TEST(Processes, SayWhyTheyCannotBeRun) {
  const auto process = spawn({.words = {"/nonexistent/program"}});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().kind, ErrorKind::not_found);
  EXPECT_EQ(process.error().path, "/nonexistent/program");
  EXPECT_TRUE(reap().empty());
}

TEST(Processes, DieWithTheThreadThatStartedThem) {
  pid_t pid = 0;
  std::thread([&] {
    auto process = spawn({.words = {"sleep", "100"}, .death_signal = SIGKILL});
    ASSERT_TRUE(process);
    pid = process->pid;
  }).join();
  ASSERT_NE(pid, 0);
  EXPECT_EQ(wait_for(pid).signal, SIGKILL);
}

TEST(Processes, OrphansAreAdopted) {
  adopt_orphans();
  auto process = spawn({.words = {"sh", "-c", "sleep 100 & echo $!"}, .piped = true});
  ASSERT_TRUE(process);
  char text[32]{};
  pollfd wait{process->out.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&wait, 1, 10'000), 1);
  ASSERT_GT(::read(process->out.get(), text, sizeof text - 1), 0);
  const pid_t orphan = std::atoi(text);
  wait_for(process->pid);
  EXPECT_THAT(children(), ElementsAre(orphan));
  ::kill(orphan, SIGKILL);
  EXPECT_EQ(wait_for(orphan).signal, SIGKILL);
}

TEST(Words, AreQuotedForAShellOnlyWhereItWouldChangeThem) {
  EXPECT_EQ(shell_word("--store=/a/b_c.d"), "--store=/a/b_c.d");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
}

TEST(Words, AreSplitAtBlanks) {
  EXPECT_THAT(*split_words(" ssh  -o 'Batch Mode=yes' \"\" a'b c'd "),
              ElementsAre("ssh", "-o", "Batch Mode=yes", "", "ab cd"));
  EXPECT_THAT(*split_words(""), ElementsAre());
  EXPECT_FALSE(split_words("a 'b"));
}

}  // namespace
}  // namespace forebay::launch
