// A job whose time is limited.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/run/batch.h"
#include "launch/run/run_job.h"
#include "launch/test_launch.h"

namespace forebay::launch {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

class RunDeadline : public TempTest {
 protected:
  RunDeadline() {
    plan_.daemons = {{"the agent", {"sh", "-c", "echo ready; cat"}, path("log")}};
    plan_.drain = {"the drain", {"sh", "-c", "echo drained"}};
    plan_.time_left = parse_time_left;
  }

  // In a process of its own, as run_job() wants it.
  std::string run() const {
    const pid_t pid = ::fork();
    if (pid == 0) {
      std::filesystem::current_path(path("."));
      std::ofstream out("report");
      const auto report = run_job(plan_, [&](const std::string& line) { out << line << std::endl; });
      if (!report) out << "error: " << report.error().message() << std::endl;
      if (report)
        out << fmt::format("launches {} code {} drain {} over {}\n", report->launches, report->ending.as_exit_code(),
                           report->drain.value_or("none"), report->out_of_time);
      out.close();
      ::_exit(0);
    }
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
    std::ifstream in(path("report"));
    return {std::istreambuf_iterator<char>(in), {}};
  }

  void ends_in(std::chrono::milliseconds time, bool asks) {
    plan_.deadline = Deadline(3600s, 3600s - time, asks, std::chrono::steady_clock::now());
  }

  RunPlan plan_;
};

TEST_F(RunDeadline, TheApplicationIsToldToEndAndDrainedAndNotStartedAgain) {
  plan_.application = {"sh", "-c", "trap 'exit 4' TERM; sleep 100 & wait"};
  plan_.relaunches = 3;
  ends_in(500ms, false);
  const std::string report = run();
  EXPECT_THAT(report, HasSubstr("the time of the job is nearly over"));
  EXPECT_THAT(report, HasSubstr("launches 1 code 4 drain drained\n over true"));
}

TEST_F(RunDeadline, TimeThatWasAddedCounts) {
  plan_.application = {"sh", "-c", "sleep 1; exit 6"};
  plan_.ask_time = {"the question", {"echo", "2:00:00"}};
  ends_in(200ms, true);
  EXPECT_THAT(run(), HasSubstr("launches 1 code 6 drain drained\n over false"));
  // What cannot be read leaves it as it was.
  plan_.ask_time = {"the question", {"echo", "INVALID"}};
  ends_in(200ms, true);
  const std::string report = run();
  EXPECT_THAT(report, HasSubstr("how much time the job has left is not told"));
  EXPECT_THAT(report, HasSubstr("over true"));
}

TEST_F(RunDeadline, ADrainHasTheTimeThatIsLeftAndIsNotCutShortByTheDeadline) {
  plan_.application = {"sh", "-c", "exit 0"};
  plan_.drain = {"the drain", {"sh", "-c", "sleep 1; echo drained"}};
  ends_in(500ms, false);
  EXPECT_THAT(run(), HasSubstr("code 0 drain drained\n over false"));
  plan_.drain = {"the drain", {"sleep", "100"}};
  plan_.deadline = Deadline(11s, 0s, false, std::chrono::steady_clock::now());
  EXPECT_THAT(run(), HasSubstr("drain none"));
}

}  // namespace
}  // namespace forebay::launch
