// forebay.h in processes of its own, with an agent in another one.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forebay/forebay.h"
#include "job/agent/test_bed.h"
#include "job/client/stage_names.h"
#include "job/test_job.h"

namespace forebay::job {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;
using wire::SetState;

class JobApi : public TempTest {
 protected:
  // Before there are threads: processes are forked here.
  void start(const std::string& stage) {
    stage_ = stage;
    AgentOptions options;
    options.stage = stage_;
    options.rendezvous = path("rendezvous");
    options.credentials = credentials();
    options.listen = {{fabric::Address::Kind::tcp, "127.0.0.1", 0, {}}};
    agent_.emplace(options);
    agent_->start();
    ::setenv("FOREBAY_STAGE", stage_.c_str(), 1);
  }
  void start() { start(path("stage")); }
  ~JobApi() override { ::unsetenv("FOREBAY_STAGE"); }

  // `body` in a process of its own; its value is the exit status.
  template <class Body>
  static pid_t process(const Body& body) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      ::_exit(body());
    }
    return child;
  }
  static int status_of(pid_t child) {
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::string stage_;
  std::optional<AgentProcess> agent_;
};

// Tells the line of the first call that did not return what it should, as an exit status.
#define EXPECT_CODE(code, call)                                                                            \
  do {                                                                                                     \
    if (const int got = (call); got != (code)) {                                                           \
      ::dprintf(2, "line %d: %d, not %d: %s\n", __LINE__, got, static_cast<int>(code), forebay_message()); \
      return 1;                                                                                            \
    }                                                                                                      \
  } while (false)

int rank(int number, int ranks) {
  forebay_client* client = nullptr;
  char path[4096];
  EXPECT_CODE(FOREBAY_OK, forebay_connect(nullptr, number, ranks, &client));
  EXPECT_CODE(FOREBAY_ARGUMENT, forebay_path(client, "x", path, sizeof path));
  EXPECT_CODE(FOREBAY_ARGUMENT, forebay_complete(client));
  EXPECT_CODE(FOREBAY_ARGUMENT, forebay_wait(client, "dump_0", 0));
  EXPECT_CODE(FOREBAY_ARGUMENT, forebay_begin(client, "no/set", 1, 1000));
  EXPECT_CODE(FOREBAY_ARGUMENT, forebay_begin(client, "set.tmp", 1, 1000));
  EXPECT_CODE(FOREBAY_OK, forebay_begin(client, "dump_1", 1, 1000));
  for (const char* bad : {"/etc/x", "../x", "", "a/../b", "\xff"})
    EXPECT_CODE(FOREBAY_ARGUMENT, forebay_path(client, bad, path, sizeof path));
  EXPECT_CODE(FOREBAY_ARGUMENT, forebay_path(client, "d/file", path, 5));
  EXPECT_CODE(FOREBAY_ARGUMENT, forebay_complete(client));  // the file is not there
  const std::string name = "d/file" + std::to_string(number);
  EXPECT_CODE(FOREBAY_OK, forebay_begin(client, "dump_1", 1, 1000));
  EXPECT_CODE(FOREBAY_OK, forebay_path(client, name.c_str(), path, sizeof path));
  std::ofstream(path) << "rank " << number;
  EXPECT_CODE(FOREBAY_ARGUMENT, forebay_wait(client, "dump_1", 0));
  EXPECT_CODE(FOREBAY_OK, forebay_complete(client));
  EXPECT_CODE(FOREBAY_OK, forebay_wait(client, "dump_1", 20'000));
  EXPECT_CODE(FOREBAY_OK, forebay_begin(client, "dump_2", 2, 1000));
  EXPECT_CODE(FOREBAY_OK, forebay_complete(client));
  EXPECT_CODE(FOREBAY_SKIPPED, forebay_wait(client, "dump_2", 20'000));
  EXPECT_CODE(FOREBAY_OK, forebay_begin(client, "dump_3", 3, 1000));
  EXPECT_CODE(FOREBAY_OK, forebay_complete(client));
  EXPECT_CODE(FOREBAY_SET_FAILED, forebay_wait(client, "dump_3", 20'000));
  if (std::string(forebay_message()).find("full") == std::string::npos) return 2;
  EXPECT_CODE(FOREBAY_OK, forebay_begin(client, "dump_4", 4, 1000));
  EXPECT_CODE(FOREBAY_TIMEOUT, forebay_restart(client, nullptr, 0, nullptr, 1));
  EXPECT_CODE(FOREBAY_ARGUMENT, forebay_complete(client));  // what was begun is given up
  forebay_disconnect(client);
  return 0;
}

TEST_F(JobApi, TellsWhatBecomesOfSets) {
  start();
  const pid_t zero = process([] { return rank(0, 2); }), one = process([] { return rank(1, 2); });
  ScriptedCoordinator coordinator(path("rendezvous"));
  const auto answer = [&](const std::string& set, SetState state) {
    auto offer = coordinator.next_offer(set);
    while (offer && offer->complete.size() < 2) offer = coordinator.next_offer(set);
    ASSERT_TRUE(offer);
    coordinator.say_state(*offer, state, state == SetState::failed ? "the store is full" : "");
  };
  answer("dump_1", SetState::durable);
  answer("dump_2", SetState::skipped);
  answer("dump_3", SetState::failed);
  EXPECT_EQ(status_of(zero), 0);
  EXPECT_EQ(status_of(one), 0);
}

TEST_F(JobApi, SaysWhenThereIsNoAgent) {
  ::unsetenv("FOREBAY_STAGE");
  forebay_client* client = nullptr;
  EXPECT_EQ(forebay_connect(nullptr, 0, 1, &client), FOREBAY_NO_JOB);
  EXPECT_EQ(client, nullptr);
  EXPECT_NE(std::string(forebay_message()).find("FOREBAY_STAGE"), std::string::npos);
  EXPECT_EQ(forebay_connect(path("none").c_str(), 0, 1, &client), FOREBAY_NO_AGENT) << forebay_message();
  EXPECT_EQ(forebay_connect(path("none").c_str(), 1, 1, &client), FOREBAY_ARGUMENT);
  EXPECT_EQ(forebay_connect(path("none").c_str(), -1, 1, &client), FOREBAY_ARGUMENT);
  EXPECT_EQ(forebay_connect(path("none").c_str(), 0, 1, nullptr), FOREBAY_ARGUMENT);
  EXPECT_EQ(forebay_begin(nullptr, "x", 1, 0), FOREBAY_ARGUMENT);
  forebay_disconnect(nullptr);
}

TEST_F(JobApi, LooksForAnAgentThatIsStartedAgain) {
  start();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t zero = process([&] {
    forebay_client* client = nullptr;
    EXPECT_CODE(FOREBAY_OK, forebay_connect(nullptr, 0, 1, &client));
    (void)!::write(ends[1], "x", 1);
    while (::access(agent_socket(stage_).c_str(), F_OK) == 0) ::usleep(1000);
    EXPECT_CODE(FOREBAY_NO_AGENT, forebay_begin(client, "dump_1", 1, 300));
    (void)!::write(ends[1], "x", 1);
    EXPECT_CODE(FOREBAY_OK, forebay_begin(client, "dump_1", 1, 20'000));
    forebay_disconnect(client);
    EXPECT_CODE(FOREBAY_OK, forebay_connect(nullptr, 0, 1, &client));
    return 0;
  });
  char byte;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  agent_->kill();
  fs::remove(agent_socket(stage_));
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  std::this_thread::sleep_for(500ms);
  agent_->start();
  EXPECT_EQ(status_of(zero), 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(JobApi, IsNotForChildren) {
  start();
  forebay_client* client = nullptr;
  ASSERT_EQ(forebay_connect(nullptr, 0, 1, &client), FOREBAY_OK) << forebay_message();
  const pid_t child = process([&] {
    EXPECT_CODE(FOREBAY_ARGUMENT, forebay_begin(client, "dump_1", 1, 1000));
    forebay_disconnect(client);
    return 0;
  });
  EXPECT_EQ(status_of(child), 0);
  EXPECT_EQ(forebay_begin(client, "dump_1", 1, 1000), FOREBAY_OK) << "the parent's is as it was";
  forebay_disconnect(client);
}

TEST_F(JobApi, ARankThatIsKilledHalfWayCompletesNothing) {
  start();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t zero = process([&] {
    forebay_client* client = nullptr;
    char path[4096];
    EXPECT_CODE(FOREBAY_OK, forebay_connect(nullptr, 0, 1, &client));
    EXPECT_CODE(FOREBAY_OK, forebay_begin(client, "dump_1", 1, 1000));
    EXPECT_CODE(FOREBAY_OK, forebay_path(client, "file", path, sizeof path));
    std::ofstream out(path);
    out << std::string(100'000, 'x') << std::flush;
    (void)!::write(ends[1], "x", 1);
    ::pause();
    return 0;
  });
  ScriptedCoordinator coordinator(path("rendezvous"));
  char byte;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  ::kill(zero, SIGKILL);
  EXPECT_EQ(status_of(zero), 128 + SIGKILL);
  ::close(ends[0]);
  ::close(ends[1]);
  agent_->kill();
  agent_->start();
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() >= 1; }));
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(coordinator.offers(), 0u);
}

// A file system of its own for the stage, where the system allows that.
TEST_F(JobApi, AFullStageIsTold) {
  fs::create_directory(path("small"));
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("forebay", path("small").c_str(), "tmpfs", 0, "size=256k") != 0)
    GTEST_SKIP() << "needs the right to mount";
  start(path("small") + "/stage");
  const pid_t zero = process([] {
    forebay_client* client = nullptr;
    char path[4096];
    EXPECT_CODE(FOREBAY_OK, forebay_connect(nullptr, 0, 1, &client));
    EXPECT_CODE(FOREBAY_OK, forebay_begin(client, "dump_1", 1, 1000));
    EXPECT_CODE(FOREBAY_OK, forebay_path(client, "file", path, sizeof path));
    std::ofstream(path) << "x";
    EXPECT_CODE(FOREBAY_OK, forebay_path(client, "filler", path, sizeof path));
    std::ofstream(path) << std::string(1'000'000, 'x');
    EXPECT_CODE(FOREBAY_FAILED, forebay_complete(client));
    EXPECT_CODE(FOREBAY_FAILED, forebay_begin(client, "dump_2", 2, 1000));
    std::remove(path);
    EXPECT_CODE(FOREBAY_OK, forebay_begin(client, "dump_1", 1, 1000));
    EXPECT_CODE(FOREBAY_OK, forebay_path(client, "file", path, sizeof path));
    EXPECT_CODE(FOREBAY_OK, forebay_complete(client));
    EXPECT_CODE(FOREBAY_OK, forebay_wait(client, "dump_1", 20'000));
    return 0;
  });
  {
    ScriptedCoordinator coordinator(path("rendezvous"));
    const auto offer = coordinator.next_offer("dump_1");
    ASSERT_TRUE(offer);
    EXPECT_EQ(offer->files.size(), 1u);
    coordinator.say_state(*offer, SetState::durable);
    EXPECT_EQ(status_of(zero), 0);
  }
  agent_.reset();
  ::umount2(path("small").c_str(), MNT_DETACH);
}

#ifdef FOREBAY_FORTRAN_RANK
TEST_F(JobApi, SpeaksFortran) {
  start();
  const auto run = [](const char* number) {
    return process([&] {
      ::execl(FOREBAY_FORTRAN_RANK, "rank", number, "2", nullptr);
      return 127;
    });
  };
  const pid_t zero = run("0"), one = run("1");
  ScriptedCoordinator coordinator(path("rendezvous"));
  auto offer = coordinator.next_offer("dump_0007");
  while (offer && offer->complete.size() < 2) offer = coordinator.next_offer("dump_0007");
  ASSERT_TRUE(offer);
  coordinator.say_state(*offer, SetState::durable);
  const auto both_ask = [&](bool any_ranks) {
    return eventually([&] {
      const auto asked = coordinator.restarts();
      return !asked.empty() && asked.back().ranks.size() == 2 && asked.back().any_ranks == any_ranks;
    });
  };
  for (const uint64_t round : {1, 2}) {
    ASSERT_TRUE(both_ask(round == 2));
    ASSERT_TRUE(coordinator.publish("dump_0007", "dump_0007", 7, round, 2));
    coordinator.say(wire::RestartDoneT{.round = round});
  }
  EXPECT_EQ(status_of(zero), 0);
  EXPECT_EQ(status_of(one), 0);
}
#endif

}  // namespace
}  // namespace forebay::job
