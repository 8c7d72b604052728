#include "launch/run/run_job.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

namespace forebay::launch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

// Whoever inherits a process may take its time to see that it has ended.
char state_of(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const size_t state = text.rfind(") ");
  return state != text.npos ? text[state + 2] : 'X';
}

bool runs(pid_t pid) { return state_of(pid) != 'Z' && state_of(pid) != 'X'; }

bool wait_for_state(pid_t pid, char state) {
  for (int i = 0; i < 400 && state_of(pid) != state; ++i) std::this_thread::sleep_for(25ms);
  return state_of(pid) == state;
}

// One whose other side is this process.
class Terminal {
 public:
  Terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    EXPECT_TRUE(::grantpt(master_.get()) == 0 && ::unlockpt(master_.get()) == 0);
  }
  void type(char key) const { EXPECT_EQ(::write(master_.get(), &key, 1), 1); }
  // By a process: from now on it is its terminal, and the process's group the foreground.
  void take() const {
    ::setsid();
    const int side = ::open(::ptsname(master_.get()), O_RDWR);
    ::dup2(side, STDIN_FILENO);
  }

 private:
  Fd master_;
};

// Shell scripts stand for daemons, errands and applications. Each job runs in a process of its own, for it takes over
// signals and children.
class RunJob : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "forebay-run-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    dir_ = name;
    plan_.daemons = {{"the agent", {"sh", "-c", "echo $$ >> daemons; echo ready; cat; echo tidy >> daemons"}, log()}};
    plan_.application = {"sh", "-c", "echo run >> application"};
    plan_.drain = {"the drain", {"sh", "-c", "echo drained"}};
    plan_.start_timeout = 10s;
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::string log() const { return (dir_ / "log").string(); }
  std::string read(const char* file) const {
    std::ifstream in(dir_ / file);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }

  // What is said, and how it ends, as lines of the file "report".
  int run(const std::function<void(pid_t)>& meanwhile = {}, const Terminal* terminal = nullptr) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      // A group of its own, so that it can be stopped, whoever started the test.
      if (terminal != nullptr)
        terminal->take();
      else
        ::setpgid(0, 0);
      fs::current_path(dir_);
      std::ofstream out("report");
      const auto report = run_job(plan_, [&](const std::string& line) { out << line << std::endl; });
      if (!report) out << "error: " << report.error().message() << std::endl;
      if (report)
        out << fmt::format("launches {} deaths {} drain {} left {}\n", report->launches, report->daemon_deaths,
                           report->drain.value_or("none"), report->left);
      if (report && !report->ended_because.empty()) out << "because " << report->ended_because << std::endl;
      for (const pid_t child : children()) out << "child " << child << std::endl;
      out.close();
      ::_exit(report ? report->ending.as_exit_code() : 99);
    }
    if (meanwhile) meanwhile(pid);
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return Ending::of(status).as_exit_code();
  }

  void wait_for_file(const char* file) const {
    for (int i = 0; i < 400 && !fs::exists(dir_ / file); ++i) std::this_thread::sleep_for(25ms);
    ASSERT_TRUE(fs::exists(dir_ / file)) << file;
  }

  fs::path dir_;
  RunPlan plan_;
};

TEST_F(RunJob, RunsDrainsAndLeavesNothing) {
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(read("application"), "run\n");
  EXPECT_THAT(read("report"), HasSubstr("launches 1 deaths 0 drain drained"));
  EXPECT_THAT(read("report"), Not(HasSubstr("child")));
  EXPECT_THAT(read("daemons"), HasSubstr("tidy"));
}

TEST_F(RunJob, PassesTheExitCodeOn) {
  plan_.application = {"sh", "-c", "exit 7"};
  EXPECT_EQ(run(), 7);
  plan_.application = {"sh", "-c", "kill -9 $$"};
  EXPECT_EQ(run(), 137);
}

TEST_F(RunJob, StartsACrashedApplicationAgainFromWhatWasRestored) {
  plan_.relaunches = 2;
  plan_.application = {"sh", "-c", "echo \"run $*\" >> application; [ $(wc -l < application) = 3 ] || kill -9 $$",
                       "app"};
  plan_.looks = {{"the look", {"sh", "-c", "echo found"}}, {"another", {"sh", "-c", "echo half; exit 1"}, true}};
  plan_.restores = [looked = 0](const std::vector<std::string>& outputs, bool is_last,
                                const Nodes&) mutable -> RunPlan::Restores {
    if (++looked == 1 && !is_last) return std::nullopt;
    return std::vector<HelperCommand>{{"a", {"echo", outputs[1] + outputs[0]}}, {"b", {"echo", "b"}}};
  };
  plan_.resumed = [](const std::vector<std::string>& outputs) -> Result<RunPlan::Resumed> {
    return RunPlan::Resumed{{}, {"--restart", fmt::format("{}{}", outputs[0][0], outputs[1][0])}, {}};
  };
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(read("application"), "run --restart fb\nrun --restart fb\nrun --restart fb\n");
  EXPECT_THAT(read("report"), HasSubstr("signal 9 (Killed); it is started again (2 of 2)"));
}

TEST_F(RunJob, DaemonsThatDieAreStartedAgain) {
  plan_.application = {"sh", "-c", "kill -9 $(head -n 1 daemons); sleep 0.7; exit 5"};
  EXPECT_EQ(run(), 5);
  EXPECT_THAT(read("report"),
              HasSubstr("the agent ended with signal 9 (Killed): its log is empty; it is started again"));
  EXPECT_THAT(read("report"), HasSubstr("deaths 1"));
}

TEST_F(RunJob, SaysWhyADaemonCannotStart) {
  plan_.daemons.push_back({"the aggregator", {"sh", "-c", "echo 'the store is gone' >&2; exit 3"}, log()});
  EXPECT_EQ(run(), 99);
  EXPECT_THAT(read("report"),
              HasSubstr("the aggregator ended with exit code 3 before it was ready: the store is gone"));
  EXPECT_EQ(read("application"), "");
}

TEST_F(RunJob, WaitsForDaemonsNotWithoutEnd) {
  plan_.start_timeout = 200ms;
  plan_.daemons[0].words = {"sleep", "100"};
  EXPECT_EQ(run(), 99);
  EXPECT_THAT(read("report"), HasSubstr("not ready after 0 s: the agent"));
  EXPECT_THAT(read("report"), Not(HasSubstr("child")));
}

TEST_F(RunJob, DrainsAfterASignal) {
  plan_.relaunches = 3;
  plan_.application = {"sh", "-c", "trap 'exit 9' TERM; touch started; while :; do sleep 0.05; done"};
  const int code = run([&](pid_t pid) {
    wait_for_file("started");
    ::kill(pid, SIGTERM);
  });
  EXPECT_EQ(code, 9);
  EXPECT_THAT(read("report"), HasSubstr("launches 1 deaths 0 drain drained"));
}

TEST_F(RunJob, KillsAnApplicationThatDoesNotHear) {
  plan_.grace = 200ms;
  plan_.application = {"sh", "-c", "trap '' TERM; touch started; while :; do sleep 0.05; done"};
  const int code = run([&](pid_t pid) {
    wait_for_file("started");
    ::kill(pid, SIGTERM);
  });
  EXPECT_EQ(code, 137);
  EXPECT_THAT(read("report"), HasSubstr("drain drained"));
}

// The launcher hears nothing, nor does what it has started.
TEST_F(RunJob, EndsAnApplicationThatDoesNotHearWithItsGroup) {
  plan_.grace = 200ms;
  plan_.application = {"sh", "-c", "trap '' TERM; sleep 100 & echo $! > worker; mv worker started; wait; sleep 100"};
  const auto begin = std::chrono::steady_clock::now();
  const int code = run([&](pid_t pid) {
    wait_for_file("started");
    ::kill(pid, SIGTERM);
  });
  EXPECT_EQ(code, 137);
  EXPECT_FALSE(runs(std::atoi(read("started").c_str())));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s) << "a straggler of the group was waited for";
}

// What a terminal sends to its foreground group reaches the application as if it were in that group.
TEST_F(RunJob, WhatTheTerminalSendsReachesTheWholeApplication) {
  plan_.application = {"sh", "-c",
                       "trap 'echo first >> heard' INT; (trap 'echo child >> heard; exit' INT; touch started; "
                       "while :; do sleep 0.05; done); exit 4"};
  const Terminal terminal;
  const int code = run(
      [&](pid_t) {
        wait_for_file("started");
        terminal.type('\x03');
      },
      &terminal);
  EXPECT_EQ(code, 4);
  EXPECT_THAT(read("heard"), AllOf(HasSubstr("child"), HasSubstr("first")));
}

TEST_F(RunJob, APauseIsOneOfTheApplicationToo) {
  // Without children: a shell that is stopped while it starts one waits for it (vfork), and does not count as stopped.
  plan_.application = {"sh", "-c", "mkfifo end; echo $$ > app; mv app started; read line < end"};
  run([&](pid_t pid) {
    wait_for_file("started");
    const pid_t application = std::atoi(read("started").c_str());
    ::kill(pid, SIGTSTP);
    EXPECT_TRUE(wait_for_state(application, 'T'));
    EXPECT_TRUE(wait_for_state(pid, 'T'));
    ::kill(pid, SIGCONT);
    std::ofstream(dir_ / "end") << "end" << std::endl;
  });
  EXPECT_THAT(read("report"), HasSubstr("launches 1 deaths 0 drain drained"));
}

// A coordinator's status, as the file "status" has it.
class Watched : public RunJob {
 protected:
  void SetUp() override {
    RunJob::SetUp();
    plan_.look = {"the look", {"cat", "status"}, true};
    plan_.exclude = [](const std::string& host) {
      return HelperCommand{"the exclusion", {"sh", "-c", "echo " + host + " >> told; mv next status"}, true};
    };
    plan_.relaunches = 1;
    plan_.grace = 10s;
  }
  void put(const char* file, const std::string& hosts, const std::string& more = "") const {
    std::string agents;
    for (const char host : hosts)
      agents += fmt::format(R"({}{{"host": "{}", "silent_seconds": 0, "process_count": 1, "cpu_seconds": 7}})",
                            agents.empty() ? "" : ", ", host);
    std::ofstream(dir_ / file) << fmt::format(R"({{"generation": 1, "agents": [{}]{}}})", agents, more);
  }
  DaemonSpec agent(const std::string& host) const {
    return {.name = "the agent on " + host,
            .words = {"sh", "-c", "echo " + host + " >> daemons; echo ready; cat"},
            .log = log(),
            .host = host,
            .elsewhere = [this](const std::string& other) { return agent(other); }};
  }
  void use_nodes(const char* text, size_t spares) {
    plan_.nodes = NodeTable::create(parse_nodes(text, "hosts").value(), spares).value();
    plan_.daemons.clear();
    for (const std::string& host : plan_.nodes.in_use().hosts) plan_.daemons.push_back(agent(host));
    plan_.announce = [](const Nodes& nodes) -> Result<void> {
      std::ofstream("nodes") << nodes_text(nodes);
      return {};
    };
    plan_.watch.node = 500ms;
  }
};

TEST_F(Watched, AnApplicationThatHangsIsEndedWithItsGroupAndStartedAgain) {
  plan_.watch.hang = 500ms;
  plan_.grace = 300ms;
  put("status", "a");
  plan_.application = {"sh", "-c",
                       "echo run >> application; [ $(wc -l < application) = 2 ] && exit 0; "
                       "trap '' TERM; sleep 100 & echo $! > worker; wait; sleep 100"};
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(read("application"), "run\nrun\n");
  EXPECT_THAT(read("report"), HasSubstr("the application is ended: it hangs: it has completed no set and used no "
                                        "processor time for 0.5 s\n"));
  EXPECT_THAT(read("report"), HasSubstr("did not end within 0 s: it is killed"));
  EXPECT_THAT(read("report"), HasSubstr("it is started again (1 of 1)"));
  EXPECT_FALSE(runs(std::atoi(read("worker").c_str())));
}

TEST_F(Watched, OneThatEndsWellWhenToldToBecauseItHungHasNotSucceeded) {
  plan_.watch.hang = 300ms;
  plan_.relaunches = 0;
  put("status", "a");
  plan_.application = {"sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.05; done"};
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(read("report"), HasSubstr("because it hangs: it has"));
}

TEST_F(Watched, OneWhoseSetsDoNotBecomeCompleteIsSaidToHaveNoneOnceWhileItRuns) {
  use_nodes("a\n", 0);
  plan_.look.words = {"sh", "-c", "cat status; echo >> looks"};
  std::ofstream(dir_ / "looks") << "";
  put("status", "a", R"(, "no_set": "no set became complete for 90 s: n3 is silent")");
  put("with", "a");
  plan_.application = {"sh", "-c",
                       "wait() { tries=$((tries + 1)); [ $tries -lt 3000 ] || exit 5; sleep 0.02; }\n"
                       "has() { until [ \"$(grep -c \"$1\" report)\" = \"$2\" ]; do wait; done; }\n"
                       "looks() { until [ $(wc -l < looks) -gt $1 ]; do wait; done; }\n"
                       "has 'warning: no set' 1; looks 4; has 'warning: no set' 1\n"
                       "cp status without; mv with status; has 'complete again' 1\n"
                       "mv without status; has 'warning: no set' 2"};
  EXPECT_EQ(run(), 0);
}

TEST_F(Watched, AStoreThatFillsUpIsSaidOnceWhileItRuns) {
  use_nodes("a\n", 0);
  plan_.look.words = {"sh", "-c", "cat status; echo >> looks"};
  std::ofstream(dir_ / "looks") << "";
  put("status", "a", R"(, "store_fills": "the store fills up: 9 more sets")");
  put("with", "a");
  plan_.application = {"sh", "-c",
                       "wait() { tries=$((tries + 1)); [ $tries -lt 3000 ] || exit 5; sleep 0.02; }\n"
                       "has() { until [ \"$(grep -c \"$1\" report)\" = \"$2\" ]; do wait; done; }\n"
                       "looks() { until [ $(wc -l < looks) -gt $1 ]; do wait; done; }\n"
                       "has 'warning: the store fills up' 1; looks 4; has 'warning: the store' 1\n"
                       "mv with status; has 'room again' 1"};
  EXPECT_EQ(run(), 0);
}

TEST_F(Watched, ASpareTakesThePlaceOfANodeThatIsLost) {
  use_nodes("a\nb\nc\n", 1);
  put("status", "ab");
  put("without", "a");
  put("next", "ac", R"(, "excluded": ["b"])");
  plan_.application = {"sh", "-c",
                       "cat nodes >> application; grep -q c nodes && exit 0; mv without status; exec sleep 100"};
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(read("application"), "a\nb\na\nc\n");
  EXPECT_EQ(read("told"), "b\n");
  EXPECT_THAT(read("daemons"), testing::AnyOf("a\nb\nc\n", "b\na\nc\n")) << "two start at a time";
  EXPECT_THAT(read("report"), HasSubstr("the application is ended: node b is lost\n"));
  EXPECT_THAT(read("report"), HasSubstr("node b is lost: c takes its place\n"));
}

TEST_F(Watched, WhatCrashesWithItsNodeIsStartedAgainElsewhere) {
  use_nodes("a\nb\nc\n", 1);
  put("status", "ab");
  put("without", "a");
  put("next", "ac", R"(, "excluded": ["b"])");
  plan_.application = {"sh", "-c", "grep -q c nodes && exit 0; mv without status; exit 3"};
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(read("report"), HasSubstr("launches 2"));
  EXPECT_THAT(read("report"), HasSubstr("node b is lost: c takes its place\n"));
}

TEST_F(Watched, ANodeWhereNothingStartsUsesUpNoAttemptAndASpareTakesItsPlace) {
  use_nodes("a\nb\nc\n", 1);
  put("status", "abc");
  plan_.relaunch_pause = 10ms;
  plan_.try_node = [](const std::string& host) {
    return HelperCommand{"the try", {"sh", "-c", "[ " + host + " = b ] || echo well"}, true};
  };
  plan_.application = {"sh", "-c", "echo run >> application; grep -q c nodes && exit 6; exit 3"};
  EXPECT_EQ(run(), 6);
  EXPECT_EQ(read("application"), "run\nrun\nrun\nrun\n") << "two for the node, and the relaunch is left";
  const std::string report = read("report");
  EXPECT_THAT(report,
              HasSubstr("nothing can be started on b\nthe application ended with exit code 3; it is started again "
                        "(for the node's sake: no attempt is used up)\n"));
  EXPECT_THAT(report, HasSubstr("2 starts have died on node b before a rank knew where to begin: c takes its place"));
  EXPECT_THAT(report, HasSubstr("it is started again (1 of 1)"));
  EXPECT_THAT(read("daemons"), testing::AnyOf("a\nb\nc\n", "b\na\nc\n"));
  EXPECT_EQ(read("told"), "") << "the agent of b stays";
}

TEST_F(Watched, WithoutASpareTheApplicationIsLeftAlone) {
  use_nodes("a\nb\n", 0);
  put("status", "a");
  put("next", "a", R"(, "excluded": ["b"])");
  plan_.application = {"sh", "-c", "sleep 1.5; exit 6"};
  EXPECT_EQ(run(), 6);
  EXPECT_THAT(read("report"), HasSubstr("node b is lost, and no spare has as many slots\n"));
  EXPECT_THAT(read("report"), HasSubstr("launches 1"));
  EXPECT_EQ(read("told"), "b\n") << "the drain does not wait for it";
}

TEST_F(Watched, ASpareThatDoesNotStartIsLostToo) {
  use_nodes("a\nb\nc\nd\n", 2);
  plan_.daemons[1].elsewhere = [this](const std::string& other) {
    DaemonSpec spec = agent(other);
    if (other == "c") spec.words = {"sh", "-c", "echo 'no route to c' >&2; exit 1"};
    return spec;
  };
  put("status", "ab");
  put("without", "a");
  put("next", "ad", R"(, "excluded": ["b", "c"])");
  plan_.application = {"sh", "-c", "grep -q d nodes && exit 0; mv without status; exit 3"};
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(read("report"), HasSubstr("no route to c"));
  EXPECT_THAT(read("report"), HasSubstr("node c is lost: d takes its place\n"));
}

TEST_F(RunJob, LeavesAtOnceAfterASecondSignal) {
  plan_.application = {"sh", "-c", "trap '' TERM; touch started; while :; do sleep 0.05; done"};
  plan_.daemons[0].words = {"sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"};
  const auto begin = std::chrono::steady_clock::now();
  const int code = run([&](pid_t pid) {
    wait_for_file("started");
    ::kill(pid, SIGTERM);
    std::this_thread::sleep_for(100ms);
    ::kill(pid, SIGTERM);
  });
  EXPECT_EQ(code, 137);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_THAT(read("report"), HasSubstr("drain none left true"));
  EXPECT_THAT(read("report"), Not(HasSubstr("child")));
}

TEST_F(RunJob, ADrainThatHangsIsGivenUp) {
  plan_.drain_timeout = 200ms;
  plan_.drain.words = {"sleep", "100"};
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(read("report"), HasSubstr("not everything is drained: the drain took more than 0 s"));
}

TEST_F(RunJob, WhatOurOwnCommandSaysInJsonIsToldInPlainText) {
  plan_.drain.words = {"sh", "-c", R"(printf '{\n  "error": {"kind": "timeout", "message": "it is late"}\n}'; exit 1)"};
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(read("report"), HasSubstr("the drain ended with exit code 1: it is late\n"));
}

TEST_F(RunJob, EndsWhatTheApplicationLeftBehind) {
  plan_.application = {"sh", "-c", "sleep 100 & echo $! > orphan"};
  EXPECT_EQ(run(), 0);
  EXPECT_NE(::kill(std::atoi(read("orphan").c_str()), 0), 0);
}

TEST_F(RunJob, ReportsAKillBeforeItEndsWhatSurvivedIt) {
  plan_.application = {"sh", "-c", "sleep 100 & echo $! > orphan; kill -9 $$"};
  plan_.end = [](bool was_killed) {
    return HelperCommand{
        "the look", {"sh", "-c", fmt::format("kill -0 $(cat orphan) && echo {} > looked", was_killed ? "killed" : "")}};
  };
  EXPECT_EQ(run(), 137);
  EXPECT_EQ(read("looked"), "killed\n");
  EXPECT_FALSE(runs(std::atoi(read("orphan").c_str())));
}

TEST_F(RunJob, NothingSurvivesItsDeath) {
  plan_.application = {"sh", "-c", "echo $$ > app; touch started; exec sleep 100"};
  run([&](pid_t pid) {
    wait_for_file("started");
    ::kill(pid, SIGKILL);
  });
  std::istringstream daemon(read("daemons"));
  pid_t agent = 0;
  daemon >> agent;
  const pid_t application = std::atoi(read("app").c_str());
  for (int i = 0; i < 400 && (runs(agent) || runs(application)); ++i) std::this_thread::sleep_for(25ms);
  EXPECT_FALSE(runs(agent));
  EXPECT_FALSE(runs(application));
}

}  // namespace
}  // namespace forebay::launch
