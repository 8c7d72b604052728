// forebay stop: ends the daemons of a running job.
#include <chrono>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/control.h"
#include "cli/json.h"
#include "cli/summary.h"
#include "cli/text.h"
#include "cli/verb.h"

namespace forebay::cli {
namespace {

constexpr std::chrono::seconds kStopElection{30};

constexpr VerbText kStopText = {
    .name = "stop",
    .summary = "end the agents and aggregators of a job, after draining if asked to",
    .usage = "(--rendezvous DIR | --store STORE [--job ID]) [--drain [--settle] | --node NAME] [--timeout SECONDS]",
    .description =
        "Has the coordinator of a job end all its agents and aggregators. Without\n"
        "--drain they end at once; what is not durable stays in the stages, where the next\n"
        "agents find it. With --drain they end when every set that is complete is durable\n"
        "or has failed, and this waits for it. With --settle, which is for applications that\n"
        "have ended, sets that only wait to be left alone are complete, and what stays in\n"
        "a stage without being stored is named; the exit code is 11 then.\n"
        "\n"
        "With --node only the agent of that node ends, and is let in no more: the job goes\n"
        "on without it, and sets that are not durable and of which only this node has a\n"
        "part fail.\n",
    .examples =
        "  forebay stop --drain --timeout 100 --rendezvous rv\n"
        "  forebay stop --store /scratch/store --job 4711\n",
};

class Stop final : public Verb {
 public:
  const VerbText& text() const override { return kStopText; }

  void declare(Syntax& syntax) override {
    declare_job(syntax, job_);
    syntax.flag("--drain", drain_, "Let everything that is complete become durable first.");
    syntax.flag("--settle", settle_, "With --drain: the application has ended, and writes no more.");
    syntax.option("--node", "NAME", "Count this node as lost, by its name in 'forebay status --json'.",
                  set_text(node_));
    syntax.option("--timeout", "SECONDS", "Wait this long at most. Default: 3600.", set_seconds(timeout_));
  }

  Result<ExitCode> run(const Console& console) override {
    if (settle_ && !drain_) return fail(ErrorKind::invalid_argument, "--settle needs --drain");
    FOREBAY_TRY(const auto path, find_job(job_));
    const auto begin = std::chrono::steady_clock::now();
    if (!node_.empty()) return exclude(console, path);
    Json status;
    FOREBAY_CHECK(Control::stop(path, job_.munge, {drain_, settle_}, begin + timeout_, status));
    if (console.json)
      print_json({{"stopped", true}, {"drained", drain_}, {"status", status}});
    else
      fmt::print("stopped{}\n", drain_ ? ": " + summary_text(status) : "");
    if (const std::string line = skipped(status); drain_ && !line.empty()) warn(line);
    if (!settle_) return ExitCode::ok;
    const auto lines = not_stored(status);
    for (const std::string& line : lines) warn(line);
    return lines.empty() ? ExitCode::ok : ExitCode::left;
  }

 private:
  Result<ExitCode> exclude(const Console& console, const std::string& path) const {
    if (drain_) return fail(ErrorKind::invalid_argument, "--drain does not go with --node");
    FOREBAY_TRY(auto control, Control::reach(path, job_.munge, std::chrono::steady_clock::now() + kStopElection));
    FOREBAY_TRY(const Json status, control.exclude(node_));
    if (console.json)
      print_json({{"excluded", status.value("excluded", Json::array())}, {"status", status}});
    else
      fmt::print("the job goes on without node {}\n", node_);
    return ExitCode::ok;
  }

  JobName job_;
  bool drain_ = false, settle_ = false;
  std::string node_;
  std::chrono::milliseconds timeout_{3'600'000};
};

}  // namespace

std::unique_ptr<Verb> make_stop() { return std::make_unique<Stop>(); }

}  // namespace forebay::cli
