// forebay aggregator: what packs a running job's checkpoint sets into the store.
#include <filesystem>

#include "cli/common.h"
#include "cli/daemon.h"
#include "cli/job_daemon.h"
#include "cli/job_options.h"
#include "cli/series.h"
#include "cli/verb.h"

namespace forebay::cli {
namespace {

constexpr VerbText kAggregatorText = {
    .name = "aggregator",
    .summary = "drain the checkpoint sets of a running job into a store",
    .usage = "--store STORE --rendezvous DIR [OPTIONS]",
    .description =
        "Any number of aggregators, anywhere, drain the sets that the agents of a job\n"
        "offer: they pull the files of a rank group, merge and compress them, and write\n"
        "one container for each group. One of them coordinates; when it dies, another one\n"
        "takes over, and what was not committed is drained again. They also deliver the\n"
        "files of a restart.\n"
        "Ends on SIGTERM, SIGINT, and when the job is stopped ('forebay stop').\n",
    .examples =
        "  forebay aggregator --store /scratch/store --rendezvous rv --memory 4G &\n"
        "  srun -n 2 forebay aggregator --store st --rendezvous rv --pfs-limit 200M &\n"
        "  forebay aggregator --store st --rendezvous rv --background --log aggregator.log\n",
};

class Aggregator final : public Verb {
 public:
  const VerbText& text() const override { return kAggregatorText; }

  void declare(Syntax& syntax) override {
    declare_store(syntax, job_.store);
    job_.declare_rendezvous(syntax);
    job_.declare_aggregator(syntax);
    job_.declare_shared(syntax);
    job_.declare_agents(syntax);
    job_.declare_listen(syntax, "tcp:*:0");
    job_.declare_encrypt(syntax);
    job_.declare_linger(syntax);
    job_.declare_series(syntax, "'default'");
    syntax.option("--command", "TEXT",
                  "Note this command of the application with its sets, for people who look at them.",
                  set_text(command_));
    declare_daemon(syntax, daemon_);
    declare_daemon_of_job(syntax, daemon_);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_CHECK(job_.complete_aggregator());
    FOREBAY_TRY(std::string series, series_or(job_.series, std::string(store::kDefaultSeries)));
    const auto run = std::filesystem::absolute(job_.rendezvous + "/.").parent_path().lexically_normal().filename();
    job_.aggregator.coordinator.origin = origin_of(std::move(series), run, {command_});
    return run_daemon("aggregator", daemon_, console, [this](Daemon& daemon) { return work(daemon); });
  }

 private:
  Result<ExitCode> work(Daemon& daemon) {
    job::AggregatorOptions& options = job_.aggregator;
    FOREBAY_CHECK(set_priority(job_.agent.priority));
    options.log = log_to(daemon);
    options.ending = [&] { daemon.end("the job is over"); };
    return serve_job(daemon, [&](const Listening& listening, std::stop_token stop) {
      options.listening = listening;
      return job::run_aggregator(options, stop);
    });
  }

  JobOptions job_;
  DaemonOptions daemon_;
  std::string command_;
};

}  // namespace

std::unique_ptr<Verb> make_aggregator() { return std::make_unique<Aggregator>(); }

}  // namespace forebay::cli
