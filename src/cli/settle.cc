// forebay settle: tells a job that its application writes no more.
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

constexpr VerbText kSettleText = {
    .name = "settle",
    .summary = "report to a job that its application has ended and writes no more",
    .usage = "(--rendezvous DIR | --store STORE [--job ID]) [--timeout SECONDS]",
    .description =
        "For scripts that start an application several times beside daemons that go on:\n"
        "the agents look at their stages at once, sets that only wait to be left alone\n"
        "(--complete settled) are complete, and what is not complete is named. Complete sets\n"
        "are drained as always; 'forebay fetch' waits for it. 'forebay run' does\n"
        "this itself. Exits with 11 if something in a stage is neither stored nor drained.\n",
    .examples = "  forebay settle --rendezvous rv && forebay fetch --stage /dev/shm/ck --ranks 0-3 --of 4\n",
};

class Settle final : public Verb {
 public:
  const VerbText& text() const override { return kSettleText; }

  void declare(Syntax& syntax) override {
    declare_job(syntax, job_);
    syntax.option("--timeout", "SECONDS", "Wait this long at most. Default: 600.", set_seconds(timeout_));
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(const auto path, find_job(job_));
    const auto until = std::chrono::steady_clock::now() + timeout_;
    FOREBAY_TRY(auto control, Control::reach(path, job_.munge, until));
    FOREBAY_TRY(const Json status, control.settle(until));
    const auto lines = not_stored(status);
    if (console.json) print_json({{"left", status.value("left", Json::array())}, {"status", status}});
    for (const std::string& line : lines) warn(line);
    return lines.empty() ? ExitCode::ok : ExitCode::left;
  }

 private:
  JobName job_;
  std::chrono::milliseconds timeout_{600'000};
};

}  // namespace

std::unique_ptr<Verb> make_settle() { return std::make_unique<Settle>(); }

}  // namespace forebay::cli
