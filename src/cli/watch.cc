// forebay watch: agent and aggregator in one process, for one node and programs that know nothing of Forebay.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/control.h"
#include "cli/daemon.h"
#include "cli/job_options.h"
#include "cli/json.h"
#include "cli/series.h"
#include "cli/summary.h"
#include "cli/temporary_directory.h"
#include "cli/verb.h"
#include "job/rendezvous/rendezvous.h"
#include "job/rendezvous/series_claim.h"
#include "store/store.h"

namespace forebay::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr VerbText kWatchText = {
    .name = "watch",
    .summary = "drain the checkpoint sets that appear below a directory of this node",
    .usage = "DIR --store STORE --complete RULE [OPTIONS]",
    .description =
        "Agent and aggregator in one process, for a program on one node that is not\n"
        "changed: each directory that appears below DIR is a set, and is drained into the\n"
        "store when it is complete by the RULE. Durable sets are removed from DIR, but for\n"
        "the newest ones (--keep). Sets that were in DIR before, and that no earlier watch\n"
        "saw come, are left alone. Runs until SIGTERM or SIGINT.\n"
        "\n"
        "With --once it takes what is in DIR now, and ends when all that is complete is\n"
        "durable, older sets included unless --backlog says so. Sets that were there before\n"
        "stay there, unless --keep limits their number.\n",
    .examples =
        "  forebay watch /dev/shm/ck --store /scratch/store --complete rename\n"
        "      sets are directories that are renamed into place when they are complete\n"
        "  forebay watch run --store st --complete 'marker:{set}/DONE' --background --log watch.log\n"
        "  forebay watch run --store st --complete settled:16:30 --once\n"
        "      sets of 16 files that were left alone for half a minute; they stay in 'run'\n",
};

class Watch final : public Verb {
 public:
  const VerbText& text() const override { return kWatchText; }

  void declare(Syntax& syntax) override {
    syntax.operands(directories_);
    declare_store(syntax, job_.store);
    job_.declare_series(syntax, "one for this directory, DIR and user");
    syntax.flag("--once", once_, "End when all that is complete now is durable or has failed.");
    job_.declare_agent(syntax);
    job_.declare_aggregator(syntax);
    job_.declare_shared(syntax);
    syntax.option("--rendezvous", "DIR", "For 'forebay status' and 'forebay stop'. Default: a temporary directory.",
                  set_text(job_.rendezvous));
    declare_daemon(syntax, daemon_);
    declare_daemon_of_job(syntax, daemon_);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_CHECK(prepare());
    if (once_ && daemon_.background) return fail(ErrorKind::invalid_argument, "--once does not go with --background");
    return run_daemon("watch", daemon_, console, [&](Daemon& daemon) { return work(daemon, console); });
  }

 private:
  Result<void> prepare() {
    if (directories_.size() != 1) return fail(ErrorKind::invalid_argument, "one directory to watch is needed");
    job_.stage = directories_[0];
    if (job_.agent_words.empty() || job_.agent.completion.kind == job::Completion::Kind::api)
      return fail(ErrorKind::invalid_argument, "how sets are known to be complete is not given", {}, {},
                  "use --complete rename, marker:PATTERN or settled:FILES");
    is_temporary_ = job_.rendezvous.empty();
    if (is_temporary_) job_.rendezvous = "-";  // is made when the process is its own
    FOREBAY_CHECK(job_.complete_agent());
    FOREBAY_CHECK(job_.complete_aggregator());
    const std::string directory = std::filesystem::absolute(job_.stage).lexically_normal();
    FOREBAY_TRY(job_.series, series_or(job_.series, default_series_of({"watch", directory})));
    job_.aggregator.coordinator.origin = origin_of(job_.series, "", {"forebay", "watch", directory});
    return {};
  }

  Result<ExitCode> work(Daemon& daemon, const Console& console) {
    std::optional<TemporaryDirectory> temporary;
    if (is_temporary_) {
      FOREBAY_TRY(auto made, TemporaryDirectory::make("forebay-watch"));
      job_.rendezvous = temporary.emplace(std::move(made)).path();
      job_.agent.rendezvous = job_.aggregator.rendezvous = job_.rendezvous;
    }
    FOREBAY_CHECK(set_priority(job_.agent.priority));
    FOREBAY_TRY(const auto rendezvous, job::Rendezvous::open(job_.rendezvous));
    FOREBAY_CHECK(store::Store::open_for_writing(job_.store));
    FOREBAY_CHECK(rendezvous.begin_run());
    FOREBAY_TRY(job_.agent.run, rendezvous.run());
    FOREBAY_TRY(const auto claim,
                job::SeriesClaim::take(job_.store, job_.series, job_.aggregator.coordinator.origin.command,
                                       [&](const std::string& text) { daemon.log(LogLevel::warning, text); }));
    daemon.log(LogLevel::info, "the series is " + job_.series);
    FOREBAY_TRY(job_.agent.credentials, rendezvous.credentials(job_.agent.credentials.munge, job_.agent.ucx));
    set_up(daemon);
    std::vector<std::function<Result<void>(std::stop_token)>> works = {
        [&](std::stop_token stop) { return job::run_agent(job_.agent, stop); },
        [&](std::stop_token stop) { return job::run_aggregator(job_.aggregator, stop); }};
    Json status;
    if (once_) works.push_back([&](std::stop_token stop) { return drain(stop, status); });
    const auto served = serve(daemon, works, kTidySeconds);
    claim.release();
    FOREBAY_CHECK(served);
    FOREBAY_CHECK(std::move(told_));
    if (is_temporary_) rendezvous.remove();
    if (!once_) return ExitCode::ok;
    if (console.json)
      print_json({{"status", status}});
    else
      fmt::print("{}\n", summary_text(status));
    if (const std::string line = skipped(status); !line.empty()) warn(line);
    for (const std::string& line : failures(status)) warn(line);
    if (const std::string why = looks_older(status); !why.empty()) warn(why);
    return failures(status).empty() ? ExitCode::ok : ExitCode::failed;
  }

  void set_up(Daemon& daemon) {
    job_.agent.log = job_.aggregator.log = log_to(daemon);
    job_.agent.listen.clear();  // nobody comes from other nodes
    job_.aggregator.listen = {{fabric::Address::Kind::unix_socket, {}, 0, job_.rendezvous + "/aggregator.sock"}};
    job_.aggregator.coordinator.agents = 1;
    // What is there already is all wanted, unless something else was asked for; it leaves the directory only if
    // somebody has said how much of it is to stay.
    const auto says = [](const JobOptions::Words& words, std::string_view option) {
      return std::ranges::any_of(words, [&](const std::string& word) { return word.starts_with(option); });
    };
    if (once_ && !says(job_.aggregator_words, "--backlog=")) job_.aggregator.coordinator.backlog = job::Backlog::block;
    if (once_) job_.agent.found = says(job_.agent_words, "--keep=") ? job::Found::take : job::Found::drain;
    job_.agent.ready = [this, &daemon](const std::vector<fabric::Address>&) {
      if (!once_)
        told_ = daemon.ready(
            "watches " + job_.stage,
            {{"directory", json_text(job_.stage)}, {"series", json_text(job_.series)}, {"pid", ::getpid()}});
      if (!told_) daemon.end(told_.error().message());
    };
  }

  // Asks for the end with a drain as soon as the agent has offered what is there: its offers follow its greeting.
  Result<void> drain(std::stop_token stop, Json& status) {
    constexpr auto kStart = 60s;
    const auto until = Clock::now() + kStart;
    for (;;) {
      auto control = Control::reach(job_.rendezvous, job_.agent.credentials.munge, until, stop);
      if (stop.stop_requested()) return {};
      if (!control) return std::unexpected(std::move(control).error());
      FOREBAY_TRY(status, control->status());
      if (status.value("agent_count", 0) > 0) break;
      if (Clock::now() > until) return fail(ErrorKind::timeout, "the agent has not come");
      std::this_thread::sleep_for(50ms);
    }
    if (job_.agent.completion.kind == job::Completion::Kind::settled) wait(job_.agent.completion.quiet + 1s, stop);
    if (stop.stop_requested()) return {};
    return Control::stop(job_.rendezvous, job_.agent.credentials.munge, {.drain = true}, Clock::time_point::max(),
                         status, stop);
  }

  static void wait(std::chrono::milliseconds time, const std::stop_token& stop) {
    for (const auto until = Clock::now() + time; Clock::now() < until && !stop.stop_requested();)
      std::this_thread::sleep_for(50ms);
  }

  JobOptions job_;
  DaemonOptions daemon_;
  std::vector<std::string> directories_;
  bool once_ = false, is_temporary_ = false;
  Result<void> told_;
};

}  // namespace

std::unique_ptr<Verb> make_watch() { return std::make_unique<Watch>(); }

}  // namespace forebay::cli
