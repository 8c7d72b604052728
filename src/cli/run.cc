// forebay run: an application with everything around it that drains its checkpoints.
#include "cli/run.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/allocation.h"
#include "cli/common.h"
#include "cli/control.h"
#include "cli/history.h"
#include "cli/input_copy.h"
#include "cli/job_options.h"
#include "cli/job_places.h"
#include "cli/json.h"
#include "cli/json_file.h"
#include "cli/run_plan.h"
#include "cli/series.h"
#include "cli/shared_directory.h"
#include "cli/summary.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "job/rendezvous/job_directories.h"
#include "job/rendezvous/rendezvous.h"
#include "job/rendezvous/series_claim.h"
#include "launch/run/failure_groups.h"
#include "launch/run/processes.h"
#include "launch/run/run_job.h"
#include "store/files.h"
#include "store/series.h"

namespace forebay::cli {
namespace {

constexpr VerbText kRunText = {
    .name = "run",
    .summary = "run an application and drain its checkpoint sets meanwhile",
    .usage = "--store STORE --stage DIR [OPTIONS] -- COMMAND...",
    .description =
        "Starts an agent on each node and the aggregators, runs COMMAND, drains the\n"
        "checkpoint sets that it writes below the stage, lets the drain finish, and ends\n"
        "with the exit code of COMMAND, or 11 if that is 0 but something in a stage is not\n"
        "stored; with 127 if there is no such program, and 126 if it cannot be executed.\n"
        "COMMAND finds the stage in $FOREBAY_STAGE. Daemons that die are started again; no\n"
        "process is left behind, whatever happens.\n"
        "\n"
        "With --relaunch a COMMAND that crashes is started again. Applications that call\n"
        "forebay_restart() get the newest set that is intact; for others --restart-args\n"
        "brings it into the stage first and says where it is. So is one that hangs, and one\n"
        "of which a node is lost: a spare takes its place. COMMAND has the file of the\n"
        "nodes that are left in $FOREBAY_NODES_FILE; {nodes} in its words stands for it,\n"
        "and {hosts} for their names with commas between them, as srun's --nodelist takes.\n"
        "\n"
        "SIGINT and SIGTERM are passed to COMMAND, and what is complete is drained before\n"
        "this ends; a second one ends everything at once. Without --complete only sets of\n"
        "applications that call forebay.h are drained. Sets that are in the store leave the\n"
        "stage, but for the newest ones (--keep); what was in the stage before is left alone.\n"
        "\n"
        "In a Slurm job the nodes are those of the job, and srun starts the daemons there.\n"
        "With --deadline auto COMMAND gets SIGTERM before the time limit, early enough to\n"
        "end and to be drained, and the exit code is 75: submit the job again.\n",
    .examples =
        "  forebay run --store /scratch/store --stage /dev/shm/ck --relaunch 3 -- \\\n"
        "      mpiexec -n 8 ./app\n"
        "  forebay run --store st --stage /tmp/ck --complete rename \\\n"
        "      --restart-args '--restart {}' --relaunch 1 -- mpiexec -n 8 ./app --out /tmp/ck\n"
        "  forebay run --store /scratch/st --stage /dev/shm/ck-$SLURM_JOB_ID --relaunch 3 \\\n"
        "      --deadline auto -- srun --kill-on-bad-exit=1 ./app\n"
        "  forebay run --nodes-file hosts --aggregators 2 --aggregator-nodes io1,io2 \\\n"
        "      --store st --stage /local/ck -- mpiexec -f hosts ./app\n"
        "  forebay run --nodes-file hosts --spares 1 --hang-timeout 900 --relaunch 3 \\\n"
        "      --store st --stage /local/ck -- mpiexec -f {nodes} ./app\n",
};

// A job takes days: all that is said has its time, that of the place, with the zone.
void say(const std::string& line) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  char stamp[64] = "";
  if (::localtime_r(&now, &local) != nullptr) std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S%z", &local);
  fmt::print(stderr, "forebay: {} {}\n", stamp, printable(line));
}

class RunVerb final : public Verb {
 public:
  explicit RunVerb(std::function<std::optional<std::string>()> hold) { options_.hold = std::move(hold); }

  const VerbText& text() const override { return kRunText; }

  void declare(Syntax& syntax) override {
    syntax.operands(options_.command);
    declare_store(syntax, job_.store);
    job_.declare_series(syntax, "one for this directory, COMMAND and user");
    job_.declare_stage(syntax);
    allocation_.declare(syntax);
    syntax.option("--spares", "COUNT",
                  "Number of spare nodes, taken from the end of the file: one takes the place of a node that is lost. "
                  "Default: 0.",
                  set_zero_count(options_.spares));
    syntax.option("--ranks", "COUNT",
                  "COMMAND has COUNT ranks: nodes that hold none of them, when those before are full, are spares.",
                  set_count(ranks_));
    syntax.option("--failure-groups", "FILE",
                  "Read what fails together with each node: a line for a node, as in 'n1 power=psu1,switch=0'. See "
                  "--failure-group.",
                  set_text(failure_groups_));
    syntax.option("--aggregators", "COUNT", "Start this number of aggregators. Default: 1.", set_count(aggregators_));
    syntax.option("--aggregator-nodes", "HOST,...", "Where they are started, in turn. Default: this node.",
                  set_text(aggregator_nodes_));
    syntax.option("--rendezvous", "DIR",
                  "Where the job's processes find each other: a directory that all nodes see. Default: "
                  "STORE/jobs/ID, where ID is that of the batch system, or made of host, process and time.",
                  set_text(rendezvous_));
    syntax.option("--relaunch", "COUNT", "Start a COMMAND that crashed again, so often at most. Default: 0.",
                  set_zero_count(options_.relaunches));
    declare_clock(syntax, job::clocks::kPause, options_.relaunch_pause);
    syntax.option("--restart-args", "WORDS",
                  "Bring the newest set into the stage before each start and, if there is one, append these words to "
                  "COMMAND; {} stands for its directory.",
                  set_text(options_.restart_args));
    declare_rule(syntax, gathering_.choice, true);
    syntax.option("--directory", "DIR",
                  "With --code or --sets: COMMAND writes its checkpoints below this directory. Default: the working "
                  "directory.",
                  set_text(gathering_.directory));
    syntax.option("--restore-to", "DIR",
                  "With --code or --sets: put what is restored into this directory. Default: as the recipe says.",
                  set_text(gathering_.restore_to));
    syntax.option(
        "--restart-command", "WORDS",
        "With --code or --sets: run these words instead of COMMAND at a restart; {set}, {step}, {path}, {dir} "
        "and {file:PATTERN} stand for what was restored. Default: as the recipe says.",
        set_text(gathering_.restart_command));
    syntax.option("--hang-timeout", "SECONDS",
                  "End a COMMAND that has completed no set and used no processor time for this long. Default: never.",
                  set_seconds(options_.hang_timeout));
    syntax.option(
        "--set-interval", "SECONDS",
        "End a COMMAND that has completed no set for this long, even if it computes: waiting MPI processes do. "
        "Default: never.",
        set_seconds(options_.set_interval));
    declare_clock(syntax, job::clocks::kNode, options_.node_timeout);
    declare_clock(syntax, job::clocks::kGrace, options_.grace);
    declare_clock(syntax, job::clocks::kRestart, options_.restart_timeout);
    declare_clock(syntax, job::clocks::kDrain, options_.drain_timeout);
    job_.declare_listen(syntax, "local where all of the job is on this node, else tcp:*:0");
    job_.declare_encrypt(syntax);
    job_.declare_agent(syntax);
    job_.declare_aggregator(syntax);
    job_.declare_shared(syntax);
    syntax.option(
        "--json-file", "FILE",
        "Write the document of --json to FILE at the end, whole or not at all. The output of COMMAND is not in it.",
        set_text(json_file_.path()));
  }

  void refuse(const std::vector<std::string>& words, const Error& why) override {
    json_file_.path() = json_file_of(words);
    if (json_file_.check()) json_file_.put(json_error(why));
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_CHECK(json_file_.check());
    auto done = run_all(console);
    if (!done) json_file_.put(json_error(done.error()));
    return done;
  }

 private:
  Result<ExitCode> run_all(const Console& console) {
    FOREBAY_CHECK(prepare());
    if (!is_program_here(options_.command[0])) return cannot_start(console, options_.command[0]);
    warn_of_one_node();
    FOREBAY_CHECK(check_shared_directory(options_, say));
    FOREBAY_CHECK(make_directories());
    std::optional<job::LeaseKeeper> keeper;
    if (rendezvous_.empty()) {
      FOREBAY_TRY(keeper, job::LeaseKeeper::start(job::lease_of(options_.rendezvous)));
    }
    FOREBAY_TRY(auto plan, make_plan(options_));
    plan.remarks = [this, since = std::time(nullptr)] {
      JobPlaces places = probe_job_places(options_.stage, {});
      places.elsewhere = processes_elsewhere(options_.rendezvous, options_.stage);
      measure_first_set(places, since);
      std::vector<std::string> texts;
      for (const Finding& finding : judge_job_places(places, false)) texts.push_back(remark_of(finding));
      return texts;
    };
    const auto report = launch::run_job(plan, say);
    const bool clean = report && report->daemon_deaths == 0 && report->lost_nodes.empty() && report->drain;
    constexpr std::chrono::seconds kTidyTime{5};
    if (!launch::done_in_child([&] { tidy(report, clean); }, kTidyTime))
      say(fmt::format("the file system of {} does not answer: what the job needed there stays", options_.rendezvous));
    if (!clean) say("the logs of the daemons are in " + options_.logs);
    if (!report) return failed(console, report.error());
    return tell(console, *report);
  }

  // Everything that can be wrong on the command line is found before anything is made.
  Result<void> prepare() {
    if (options_.command.empty())
      return fail(ErrorKind::invalid_argument, "no command to run is given", {}, {}, "put it after '--'");
    job_.rendezvous = "-";  // is chosen below
    FOREBAY_CHECK(take_rule());
    FOREBAY_CHECK(job_.complete_agent());
    FOREBAY_CHECK(job_.complete_aggregator());
    FOREBAY_CHECK(allocation_.complete(options_));
    FOREBAY_CHECK(place_aggregators());
    FOREBAY_CHECK(read_failure_groups());
    FOREBAY_CHECK(launch::split_words(options_.restart_args));
    options_.munge = job_.agent.credentials.munge;
    options_.agent_words = job_.agent_words;
    options_.aggregator_words = job_.aggregator_words;
    // The limit is of the file system, and the aggregators share it.
    if (job_.pfs_limit > 0)
      options_.aggregator_words.push_back(
          fmt::format("--pfs-limit={}", std::max<uint64_t>(job_.pfs_limit / aggregators_, 1)));
    FOREBAY_TRY(options_.series, series_or(job_.series, default_series_of(options_.command)));
    const std::string command = origin_of("", "", options_.command).command;
    const std::string ports = of_environment("FOREBAY_PORTS");
    const bool is_local = !job_.listens() && is_on_this_node(options_);
    for (auto* words : {&options_.agent_words, &options_.aggregator_words}) {
      words->push_back("--series=" + options_.series);
      if (is_local) words->push_back("--listen=local");
      // Launchers do not hand the environment on.
      if (!job_.has_ports() && !ports.empty()) words->push_back("--ports=" + ports);
    }
    options_.aggregator_words.push_back("--command=" + command);
    options_.stage = std::filesystem::absolute(job_.stage).lexically_normal();
    options_.store = std::filesystem::absolute(job_.store).lexically_normal();
    return {};
  }

  // What a code that knows nothing of Forebay completes comes into the stage by a rename.
  Result<void> take_rule() {
    if (!gathering_.choice.is_given()) {
      if (gathering_.directory.empty() && gathering_.restore_to.empty() && gathering_.restart_command.empty())
        return {};
      return fail(ErrorKind::invalid_argument, "--directory, --restore-to and --restart-command need --code or --sets");
    }
    if (job_.agent.completion.kind != job::Completion::Kind::api)
      return fail(ErrorKind::invalid_argument, "--complete does not go with --code and --sets");
    gathering_.directory = absolute_directory(gathering_.directory);
    if (!std::filesystem::is_directory(gathering_.directory))
      return fail(ErrorKind::not_found, "there is no such directory", gathering_.directory, {},
                  "give it by --directory");
    if (gathering_.choice.code == kAutoCode) FOREBAY_CHECK(take_proposed_code());
    FOREBAY_TRY(const auto chosen, choose_rule(gathering_.choice));
    FOREBAY_CHECK(launch::split_words(gathering_.restart_command));
    job_.agent.completion.kind = job::Completion::Kind::rename;
    job_.agent_words.push_back("--complete=rename");
    if (!chosen.edit.empty() && gathering_.restart_command.empty())
      say(fmt::format("note: before {} resumes, change {}; 'forebay recipes {}' says more", chosen.name, chosen.edit,
                      chosen.name));
    if (gathering_.restart_command.empty() && options_.restart_args.empty()) {
      const InputLook look = look_at_input(chosen.name, chosen.input, options_.command);
      if (look.is_copied) gathering_.input = chosen.input;
      if (!look.is.empty())
        say(look.change.empty() ? "note: " + look.is : fmt::format("warning: {}; {}", look.is, look.change));
    }
    options_.gathering = gathering_;
    return {};
  }

  Result<void> take_proposed_code() {
    FOREBAY_TRY(const auto candidates, propose_code(options_.command, gathering_.directory));
    const auto one = launch::clear_one(candidates);
    if (!one) {
      std::string list;
      for (const auto& each : candidates) list += (list.empty() ? ": " : "; ") + candidate_text(each);
      return fail(
          ErrorKind::invalid_argument,
          fmt::format("--code auto finds {}{}", candidates.empty() ? "no recipe" : "no recipe that is clear", list), {},
          {}, "name one with --code NAME; 'forebay doctor --code NAME' shows what it would take");
    }
    gathering_.choice.code = one->name;
    say("--code auto takes the recipe " + candidate_text(*one));
    return {};
  }

  Result<void> place_aggregators() {
    FOREBAY_CHECK(find_spares());
    if (aggregators_ > 4096) return fail(ErrorKind::invalid_argument, "--aggregators is 4096 at most");
    std::string hosts = aggregator_nodes_;
    std::ranges::replace(hosts, ',', '\n');
    launch::Nodes nodes = launch::one_node("localhost");
    if (!hosts.empty()) {
      FOREBAY_TRY(nodes, launch::parse_nodes(hosts, "--aggregator-nodes"));
    }
    for (uint64_t i = 0; i < aggregators_; ++i)
      options_.aggregator_hosts.push_back(nodes.hosts[i % nodes.hosts.size()]);
    return {};
  }

  void warn_of_one_node() const {
    if (job_.aggregator.coordinator.protection.scheme == redundancy::Scheme::none) return;
    if (options_.nodes.hosts.size() - options_.spares > 1) return;
    say("warning: one node alone cannot protect its sets (--redundancy): each is stored instead");
  }

  Result<void> read_failure_groups() {
    constexpr uint64_t kMostBytes = 16 << 20;
    if (failure_groups_.empty()) return {};
    FOREBAY_TRY(const auto text, store::read_text(failure_groups_, kMostBytes));
    FOREBAY_TRY(options_.failure_groups, launch::parse_failure_group_file(text, failure_groups_));
    // A file for the whole machine names others as well.
    std::erase_if(options_.failure_groups, [&](const auto& one) {
      return std::ranges::find(options_.nodes.hosts, one.first) == options_.nodes.hosts.end();
    });
    if (options_.failure_groups.empty())
      return fail(ErrorKind::invalid_argument, "names no node of the job", failure_groups_, {},
                  "hosts are called as in the file of the nodes");
    return {};
  }

  Result<void> find_spares() {
    if (ranks_ == 0) {
      FOREBAY_CHECK(launch::NodeTable::create(options_.nodes, options_.spares));
      return {};
    }
    if (options_.spares > 0) return fail(ErrorKind::invalid_argument, "--ranks does not go with --spares");
    const auto placed =
        launch::place_ranks(options_.nodes, static_cast<uint32_t>(std::min<uint64_t>(ranks_, 1u << 22)));
    options_.spares = static_cast<uint64_t>(std::ranges::count_if(placed, [](const auto& one) { return one.empty(); }));
    return {};
  }

  // The store first: only then may there be something else below its directory.
  Result<void> make_directories() {
    FOREBAY_TRY(const auto store, store::Store::open_for_writing(options_.store));
    FOREBAY_CHECK(tell_series(store));
    FOREBAY_CHECK(tell_places(store));
    FOREBAY_TRY(claim_, job::SeriesClaim::take(options_.store, options_.series,
                                               origin_of("", "", options_.command).command, say));
    auto made = make_job_directories();
    if (!made) claim_->release();
    return made;
  }

  Result<void> tell_series(const store::Store& store) const {
    FOREBAY_TRY(const auto sets, store.list());
    const auto own = store::of_series(sets, options_.series);
    const auto readable = [](const store::SetInfo& set) { return set.manifest.has_value(); };
    const auto count = static_cast<uint64_t>(std::ranges::count_if(own, readable));
    std::string text = fmt::format("series {}: ", options_.series);
    text += count == 0 ? "no set yet"
                       : fmt::format("{}, the newest is {} of {}", plural(count, "set"), own.back().name,
                                     plural(own.back().manifest->ranks, "rank"));
    const std::string others = store::describe_series(sets, options_.series);
    if (!others.empty())
      text += fmt::format("; the store has others, which are left alone: {} (--series NAME continues one)", others);
    say(text);
    return {};
  }

  Result<void> tell_places(const store::Store& store) const {
    JobPlaces places = probe_job_places(options_.stage, options_.store);
    FOREBAY_TRY(const auto sets, store.list());
    const auto own = store::of_series(sets, options_.series);
    if (!own.empty() && own.back().manifest) {
      places.set = own.back().name;
      places.set_bytes = own.back().manifest->raw_bytes();
    }
    for (const Finding& finding : judge_job_places(places, true)) say(remark_of(finding));
    return {};
  }

  Result<void> make_job_directories() {
    if (rendezvous_.empty()) {
      const std::string jobs = jobs_directory(options_.store);
      FOREBAY_TRY(holder_, job::this_holder(command_line()));
      FOREBAY_TRY(options_.rendezvous, job::make_job_directory(jobs, job_id(), holder_));
      job::clean_jobs(jobs);
    } else {
      options_.rendezvous = std::filesystem::absolute(rendezvous_).lexically_normal();
    }
    FOREBAY_TRY(const auto rendezvous, job::Rendezvous::open(options_.rendezvous, job_.encrypt));
    FOREBAY_CHECK(rendezvous.credentials(options_.munge, job_.agent.ucx));
    FOREBAY_CHECK(rendezvous.begin_run());
    options_.logs = options_.rendezvous + "/log";
    std::error_code error;
    has_made_logs_ = std::filesystem::create_directory(options_.logs, error);
    if (error) return fail_errno(error.value(), "mkdir", options_.logs);
    return {};
  }

  std::string command_line() const {
    std::string text;
    for (const std::string& word : options_.command) text += (text.empty() ? "" : " ") + shell_word(word);
    return text;
  }

  // What the coordinator has said last, or null.
  static Json last_status(const launch::RunReport& report) {
    const Json answer = report.drain ? Json::parse(*report.drain, nullptr, false) : Json();
    return answer.is_object() ? answer.value("status", Json()) : Json();
  }

  void tidy(const Result<launch::RunReport>& report, bool clean) const {
    claim_->release();
    if (rendezvous_.empty()) {
      const auto summary = summary_of_run(holder_, std::time(nullptr), report, report ? last_status(*report) : Json());
      (void)job::end_job(options_.rendezvous, summary, !clean);
      return;
    }
    std::error_code ignored;
    if (clean && has_made_logs_) std::filesystem::remove_all(options_.logs, ignored);
    if (const auto rendezvous = job::Rendezvous::open_existing(options_.rendezvous)) rendezvous->remove();
    if (clean) ::rmdir(options_.rendezvous.c_str());
  }

  // The exit codes that shells have.
  ExitCode cannot_start(const Console& console, const std::string& program) const {
    const Error error = why_not_executed(program);
    json_file_.put(json_error(error));
    if (console.json)
      print_json(json_error(error));
    else
      fmt::print(stderr, "forebay: {}\n", printable(error.message()));
    return static_cast<ExitCode>(error.kind == ErrorKind::permission ? 126 : 127);
  }

  Result<ExitCode> failed(const Console& console, const Error& error) const {
    if (console.json) return std::unexpected(error);
    json_file_.put(json_error(error));
    say(error.message());
    return exit_code_of(error.kind);
  }

  ExitCode tell(const Console& console, const launch::RunReport& report) const {
    const Json status = last_status(report);
    const auto lines = not_stored(status);
    for (const std::string& line : lines) say("warning: " + line);
    if (const std::string line = skipped(status); !line.empty()) say(line);
    if (const std::string why = looks_older(status); !why.empty()) say("warning: " + why);
    if (const std::string why = no_set_comes(status); !why.empty()) say("warning: " + why);
    if (const std::string why = store_fills(status); !why.empty()) say("warning: " + why);
    if (report.drain && has_no_set(status)) say("warning: " + why_no_set(!lines.empty()));
    const double seconds = static_cast<double>(report.drain_time.count()) / 1000;
    const Json document = {{"exit_code", report.ending.as_exit_code()},
                           {"series", json_text(options_.series)},
                           {"launch_count", report.launches},
                           {"daemon_death_count", report.daemon_deaths},
                           {"lost_nodes", report.lost_nodes},
                           {"retired_nodes", report.retired_nodes},
                           {"ended_because", json_text_or_null(report.ended_because)},
                           {"drained", report.drain.has_value()},
                           {"unstored_count", lines.size()},
                           {"drain_seconds", seconds},
                           {"out_of_time", report.out_of_time},
                           {"status", status}};
    json_file_.put(document);
    if (console.json)
      print_json(document);
    else if (report.drain)
      say(fmt::format("{}; waited {} for the drain", summary_text(status), format_duration(seconds)));
    if (report.out_of_time) return ExitCode::out_of_time;
    if (report.launches == 0) return static_cast<ExitCode>(128 + report.told_to_end);
    if (!report.ending.good()) return static_cast<ExitCode>(report.ending.as_exit_code());
    if (!report.ended_because.empty()) return ExitCode::failed;
    if (!report.drain && !report.left) return ExitCode::failed;
    return lines.empty() ? ExitCode::ok : ExitCode::left;
  }

  std::string why_no_set(bool has_left) const {
    if (!has_left && options_.gathering) {
      const auto& [choice, directory] = std::tie(options_.gathering->choice, options_.gathering->directory);
      return fmt::format(
          "no checkpoint set was written below {}: 'forebay recipes --match {} {}' says what would be one", directory,
          choice.code.empty() ? "--sets RULE" : choice.code, directory);
    }
    if (!has_left) return fmt::format("no checkpoint set was written below {}", options_.stage);
    if (job_.agent.completion.kind == job::Completion::Kind::api)
      return "no set was ever complete: without --complete only those of applications that call forebay.h are; say by "
             "--complete how yours are known to be complete ('forebay run --help')";
    return "no set was ever complete: does --complete say how the application writes them?";
  }

  JobOptions job_;
  RunOptions options_;
  std::optional<job::SeriesClaim> claim_;
  job::Holder holder_;  // of the lease of a directory below STORE/jobs
  Allocation allocation_;
  Gathering gathering_;
  std::string aggregator_nodes_, rendezvous_, failure_groups_;
  JsonFile json_file_;
  bool has_made_logs_ = false;  // their directory
  uint64_t aggregators_ = 1, ranks_ = 0;
};

}  // namespace

std::unique_ptr<Verb> make_run() { return make_run_unless({}); }

std::unique_ptr<Verb> make_run_unless(std::function<std::optional<std::string>()> hold) {
  return std::make_unique<RunVerb>(std::move(hold));
}

}  // namespace forebay::cli
