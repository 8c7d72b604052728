#include "cli/allocation.h"

#include <optional>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/units.h"
#include "launch/run/batch.h"
#include "launch/run/processes.h"
#include "store/files.h"

namespace forebay::cli {
namespace {

constexpr std::chrono::seconds kPatience{60};  // with a batch system that is busy

Result<std::string> ask(const launch::BatchJob& batch, const std::vector<std::string>& words, const char* for_what,
                        const char* hint) {
  auto output = launch::output_of(words, kPatience);
  if (output) return output;
  Error error = std::move(output).error();
  return fail(error.kind, fmt::format("{} cannot be asked for {}: {}", batch.name, for_what, error.message()), {}, {},
              hint);
}

Result<launch::Nodes> nodes_of(const std::string& nodes_file, const std::optional<launch::BatchJob>& batch) {
  constexpr uint64_t kMostBytes = 16 << 20;
  if (!nodes_file.empty()) {
    FOREBAY_TRY(const auto text, store::read_text(nodes_file, kMostBytes));
    return launch::parse_nodes(text, nodes_file);
  }
  if (!batch) return launch::one_node("localhost");
  FOREBAY_TRY(const auto hosts, ask(*batch, batch->hosts_command, "its nodes", "give them with --nodes-file"));
  return launch::parse_allocation(*batch, hosts);
}

Result<launch::Deadline::Left> left_of(const std::string& deadline, const std::optional<launch::BatchJob>& batch) {
  if (deadline != "auto") {
    FOREBAY_TRY(const double seconds, parse_duration(deadline));
    return std::chrono::seconds(static_cast<int64_t>(seconds));
  }
  if (!batch)
    return fail(ErrorKind::invalid_argument, "--deadline auto is for Slurm jobs, and this is none", {}, {},
                "say how much time is left, as in --deadline 5.5h");
  FOREBAY_TRY(const auto text,
              ask(*batch, batch->left_command, "the time that is left", "give it, as in --deadline 5.5h"));
  return launch::parse_time_left(text);
}

}  // namespace

void Allocation::declare(Syntax& syntax) {
  syntax.option("--nodes-file", "FILE",
                "The nodes of the application, a line for each: HOST, HOST:SLOTS or HOST slots=SLOTS. Default: those "
                "of the Slurm job, else this node.",
                set_text(nodes_file_));
  syntax.option("--launcher", "COMMAND",
                "Start commands on other nodes by this: srun (a step of the Slurm job), ssh, or a command of your own. "
                "Default: auto, which is srun in a Slurm job, else ssh.",
                set_text(launcher_));
  syntax.option("--deadline", "TIME",
                "End the job after this time, as 90m or 5.5h; auto: when the Slurm job ends. COMMAND gets a signal in "
                "time for the drain, and the exit code is 75. Default: none.",
                set_text(deadline_));
  syntax.option("--drain-before", "SECONDS",
                "Signal COMMAND to end this long before the deadline. Default: --grace and 120 seconds more.",
                set_seconds(drain_before_));
}

void Allocation::append_to(std::vector<std::string>& words) const {
  if (launcher_ != "auto") words.push_back("--launcher=" + launcher_);
  if (!deadline_.empty()) words.push_back("--deadline=" + deadline_);
  if (drain_before_.count() > 0)
    words.push_back(fmt::format("--drain-before={}", static_cast<double>(drain_before_.count()) / 1000));
}

Result<void> Allocation::complete(RunOptions& options) const {
  const auto batch = launch::batch_job([](const char* name) { return of_environment(name); });
  FOREBAY_TRY(options.launcher, launch::parse_launcher(launcher_, batch.has_value()));
  FOREBAY_TRY(options.nodes, nodes_of(nodes_file_, batch));
  if (deadline_.empty()) return {};
  const auto before = drain_before_.count() > 0 ? drain_before_ : options.grace + kDrain;
  FOREBAY_TRY(const auto left, left_of(deadline_, batch));
  if (left && *left <= before)
    return fail(ErrorKind::invalid_argument,
                fmt::format("the job has {} left, and COMMAND is to end {} before that is over",
                            format_duration(static_cast<double>(left->count())),
                            format_duration(static_cast<double>(before.count()) / 1000)),
                {}, {}, "give the job more time, or --drain-before less");
  const bool asks = deadline_ == "auto";
  options.deadline = launch::Deadline(left, before, asks, std::chrono::steady_clock::now());
  if (asks) options.left_command = batch->left_command;
  return {};
}

}  // namespace forebay::cli
