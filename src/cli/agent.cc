// forebay agent: what a compute node does for the drain of a running job.
#include <cstdio>

#include <fmt/format.h>

#include "cli/daemon.h"
#include "cli/job_daemon.h"
#include "cli/job_options.h"
#include "cli/text.h"
#include "cli/verb.h"
#include "job/rendezvous/rendezvous.h"

namespace forebay::cli {
namespace {

constexpr VerbText kAgentText = {
    .name = "agent",
    .summary = "offer a node's checkpoint sets to the aggregators of a running job",
    .usage = "--stage DIR --rendezvous DIR [OPTIONS]",
    .description =
        "Runs once on each compute node of a job. It notices when the application has\n"
        "completed a checkpoint set below the stage, offers it to the aggregators, lets\n"
        "them read the files, and removes them from the stage when they are durable in the\n"
        "store. At a restart it takes the files that aggregators bring. An agent that was\n"
        "killed can be started again: all that it knows lies in the stage.\n"
        "Ends on SIGTERM, SIGINT, and when the job is stopped ('forebay stop').\n",
    .examples =
        "  srun --ntasks-per-node=1 forebay agent --stage /dev/shm/ck --rendezvous $PWD/rv &\n"
        "  forebay agent --stage /local/ck --rendezvous rv --complete 'marker:{set}/DONE' \\\n"
        "                --background --log agent.log --pid-file agent.pid\n",
};

class Agent final : public Verb {
 public:
  const VerbText& text() const override { return kAgentText; }

  void declare(Syntax& syntax) override {
    job_.declare_stage(syntax);
    job_.declare_rendezvous(syntax);
    syntax.option("--series", "NAME",
                  "The series of the job: sets of another one that lie in the stage, not stored yet, are an error. "
                  "Default: any.",
                  set_text(job_.agent.series));
    job_.declare_agent(syntax);
    job_.declare_place(syntax);
    job_.declare_shared(syntax);
    job_.declare_listen(syntax, "tcp:*:0");
    job_.declare_encrypt(syntax);
    job_.declare_linger(syntax);
    declare_daemon(syntax, daemon_);
    declare_daemon_of_job(syntax, daemon_);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_CHECK(job_.complete_agent());
    return run_daemon("agent", daemon_, console, [this](Daemon& daemon) { return work(daemon); });
  }

 private:
  Result<ExitCode> work(Daemon& daemon) {
    job::AgentOptions& options = job_.agent;
    FOREBAY_TRY(const auto rendezvous, job::Rendezvous::open(options.rendezvous, job_.encrypt));
    FOREBAY_TRY(options.credentials, rendezvous.credentials(options.credentials.munge, options.ucx));
    FOREBAY_TRY(options.run, rendezvous.run());
    options.log = log_to(daemon);
    // Whoever holds the lifeline reads this; for others it is in the log.
    if (daemon_.until_eof)
      options.tell = [](const std::string& text) {
        fmt::print("{}\n", printable(text));
        std::fflush(stdout);
      };
    return serve_job(daemon, [&](const Listening& listening, std::stop_token stop) {
      options.ready = listening;
      return job::run_agent(options, stop);
    });
  }

  JobOptions job_;
  DaemonOptions daemon_;
};

}  // namespace

std::unique_ptr<Verb> make_agent() { return std::make_unique<Agent>(); }

}  // namespace forebay::cli
