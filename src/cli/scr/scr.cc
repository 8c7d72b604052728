// forebay scr: run, prerun, postrun, halt and index.
#include "cli/scr/scr.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

#include "base/posix/own_code.h"
#include "cli/allocation.h"
#include "cli/common.h"
#include "cli/control.h"
#include "cli/daemon.h"
#include "cli/extension.h"
#include "cli/job_options.h"
#include "cli/run.h"
#include "cli/scr/verbs.h"
#include "cli/summary.h"
#include "cli/text.h"
#include "job/rendezvous/rendezvous.h"
#include "launch/run/processes.h"

namespace forebay::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

constexpr VerbText kScrText = {
    .name = "scr",
    .summary = find_extension("scr")->summary,
    .usage = "run [OPTIONS] -- LAUNCHER... | prerun | postrun | halt [DIR] | index [DIR]",
    .description =
        "For programs that are linked with libscr. Everything follows from SCR's keys, in the\n"
        "environment, in .scrconf and in etc/scr.conf: SCR_PREFIX, SCR_CACHE_BASE, SCR_RUNS...\n"
        "  run      starts LAUNCHER... with agents on all nodes and an aggregator around it, as\n"
        "           'forebay run' does; again, SCR_RUNS times in all, when it crashes or hangs;\n"
        "           nodes beyond SCR_MIN_NODES are spares; at the end does what postrun does\n"
        "  prerun   reads the configuration, and makes the directories on all nodes\n"
        "  postrun  stores what lies only in the caches of nodes, rebuilt where nodes are gone;\n"
        "           starts daemons where there are none\n"
        "  halt     says when the program is to end: SCR_Should_exit reports it. Without an option: after\n"
        "           the next checkpoint, and it is not started again meanwhile\n"
        "  index    lists the sets of the prefix, newest first, and changes the list\n"
        "The command is also installed as scr_run, scr_srun, scr_prerun, scr_postrun, scr_halt and\n"
        "scr_index, so that job scripts stay as they are.\n",
    .examples =
        "  scr_run srun -n 64 ./app\n"
        "  forebay scr run --nodes-file hosts -- mpiexec -f {nodes} -n 64 ./app\n"
        "  forebay scr halt --checkpoints 2 /scratch/run\n"
        "  forebay scr index --current timestep.40 /scratch/run\n",
};

// etc/scr.conf of the installation that this command is of.
std::string system_file() {
  return (std::filesystem::path(own_command()).parent_path().parent_path() / "etc/scr.conf").string();
}

Setter set_optional(std::optional<int64_t>& to) {
  return [&to](const std::string& text) -> Result<void> {
    uint64_t number = 0;
    FOREBAY_CHECK(set_zero_count(number)(text));
    to = static_cast<int64_t>(std::min<uint64_t>(number, INT64_MAX));
    return {};
  };
}

class Scr final : public Verb {
 public:
  const VerbText& text() const override { return kScrText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    syntax.option("-p,--prefix", "DIR", "The prefix. Default: SCR_PREFIX, else here.", set_text(prefix_));
    allocation_.declare(syntax);
    declare_clock(syntax, job::clocks::kGrace, options_.grace, "run: ");
    declare_clock(syntax, job::clocks::kPeer, peer_timeout_, "run: ");
    declare_clock(syntax, job::clocks::kNode, node_timeout_, "run: ");
    syntax.option("--stage", "DIR", "prerun: only make this stage, on this node.", set_text(stage_));
    syntax.option("--timeout", "SECONDS", "postrun: wait this long at most. Default: 3600.", set_seconds(timeout_));
    syntax.option("-c,--checkpoints", "COUNT", "halt: after COUNT more checkpoints.", set_optional(halt_.checkpoints));
    syntax.option("-b,--before", "TIME", "halt: before this time, as 18:30 or 2026-11-24T18:30.",
                  set_text(halt_.before));
    syntax.option("-a,--after", "TIME", "halt: at the first checkpoint after it.", set_text(halt_.after));
    syntax.option("-s,--seconds", "COUNT", "halt: COUNT seconds before the end of the allocation.",
                  set_optional(halt_.seconds));
    syntax.flag("-i,--immediate", halt_.immediate, "halt: at once, when the program asks.");
    syntax.option("-u,--unset", "CONDITION", "halt: not for checkpoints, before, after, seconds or reason any more.",
                  add_text(halt_.unset));
    syntax.flag("-r,--remove", halt_.remove, "halt: for no reason any more.");
    syntax.flag("-l,--list", index_.list, "halt: change nothing, list the conditions. index: list the sets.");
    syntax.option("--current", "NAME", "index: restart from this set.", set_text(index_.current));
    syntax.option("--drop", "NAME", "index: forget this set, and do not restart from it; its files stay.",
                  set_text(index_.drop));
    syntax.option("--add", "NAME", "index: take in a set that the store or the prefix has.", set_text(index_.add));
    syntax.option("--build", "ID", "index: check this set anew, or all that there are.", set_text(index_.build));
  }

  Result<ExitCode> run(const Console& console) override {
    if (operands_.empty()) return unknown("nothing is said");
    const std::string action = operands_[0];
    operands_.erase(operands_.begin());
    if (action == "run") return launch(console);
    if (action == "prerun" && !stage_.empty()) {
      FOREBAY_CHECK(scr::make_stage_directory(stage_));
      if (console.json) print_json({{"stage", json_text(stage_)}, {"halted_because", nullptr}});
      return ExitCode::ok;
    }
    if (action == "halt" || action == "index") return with_prefix(action, console);
    if (action != "prerun" && action != "postrun") return unknown(fmt::format("'{}' is unknown", action));
    if (!operands_.empty()) return unknown(fmt::format("'{}' is one word too many", operands_[0]));
    FOREBAY_TRY(const ScrJob job, ScrJob::load(prefix_));
    return action == "prerun" ? prerun(job, console) : scavenge(job, console);
  }

 private:
  static std::unexpected<Error> unknown(const std::string& what) {
    return fail(ErrorKind::invalid_argument, what, {}, {}, "say run, prerun, postrun, halt or index");
  }

  Result<ExitCode> with_prefix(const std::string& action, const Console& console) {
    if (operands_.size() > 1) return unknown(fmt::format("'{}' is one word too many", operands_[1]));
    if (operands_.size() == 1) prefix_ = operands_[0];
    FOREBAY_TRY(const ScrJob job, ScrJob::load(prefix_));
    halt_.list = index_.list;
    return action == "halt" ? scr_halt(job.places, halt_, console) : scr_index(job.places, index_, console);
  }

  // The nodes that the configuration leaves, in options_.nodes.
  Result<void> find_nodes(const ScrJob& job) {
    FOREBAY_CHECK(allocation_.complete(options_));
    std::string excluded = job.config.text("SCR_EXCLUDE_NODES");
    std::ranges::replace(excluded, ',', '\n');
    std::ranges::replace(excluded, ' ', '\n');
    if (excluded.find_first_not_of('\n') == excluded.npos) return {};
    FOREBAY_TRY(const auto without, launch::parse_nodes(excluded, "SCR_EXCLUDE_NODES"));
    launch::Nodes left;
    for (const launch::Nodes::Block& block : options_.nodes.blocks) {
      const std::string& host = options_.nodes.hosts[block.host];
      if (std::ranges::find(without.hosts, host) != without.hosts.end()) continue;
      auto at = std::ranges::find(left.hosts, host);
      if (at == left.hosts.end()) {
        left.hosts.push_back(host);
        left.styles.push_back(options_.nodes.style_of(block.host));
        at = left.hosts.end() - 1;
      }
      left.blocks.push_back({static_cast<size_t>(at - left.hosts.begin()), block.slots});
    }
    if (left.hosts.empty())
      return fail(ErrorKind::invalid_argument, "SCR_EXCLUDE_NODES leaves no node of this job", {}, {},
                  "name fewer nodes there");
    options_.nodes = std::move(left);
    return {};
  }

  Words on(const std::string& host, Words words) const {
    std::error_code error;
    words.insert(words.begin(), own_command());
    if (host == "localhost") return words;
    return options_.launcher.command(host, std::filesystem::current_path(error).string(), words);
  }

  // The same command on all nodes at once; the names of those where it failed. Its output, a line or two, is not passed
  // on: standard output is this command's.
  std::vector<std::string> on_all(const std::vector<std::string>& hosts,
                                  const std::function<Words(const std::string&)>& words_of,
                                  std::chrono::seconds patience) const {
    std::vector<std::pair<launch::Process, std::string>> running;
    std::vector<std::string> failed;
    for (const std::string& host : hosts) {
      auto process = launch::spawn({.words = on(host, words_of(host)), .environment = {}, .piped = true, .log = {}});
      if (process)
        running.emplace_back(*std::move(process), host);
      else
        failed.push_back(host);
    }
    for (const auto until = Clock::now() + patience; !running.empty();) {
      const bool is_late = Clock::now() > until;
      for (const auto& [process, host] : running)
        if (is_late) ::kill(process.pid, SIGKILL);
      for (const launch::Ended& ended : launch::reap()) {
        const auto found = std::ranges::find(running, ended.pid, [](const auto& one) { return one.first.pid; });
        if (found == running.end()) continue;
        if (!ended.ending.good()) failed.push_back(found->second);
        running.erase(found);
      }
      ::usleep(20'000);
    }
    return failed;
  }

  Result<ExitCode> prerun(const ScrJob& job, const Console& console) {
    FOREBAY_TRY(const auto reason, prepare(job));
    if (console.json)
      print_json({{"stage", json_text(job.places.stage)}, {"halted_because", reason ? json_text(*reason) : Json()}});
    else if (reason)
      warn_of_halt(*reason);
    return reason ? ExitCode::failed : ExitCode::ok;
  }

  static void warn_of_halt(const std::string& reason) {
    warn(fmt::format("a halt condition holds: {}; 'forebay scr halt --remove' takes it back", reason));
  }

  // The halt condition that holds; nothing: the program may start.
  Result<std::optional<std::string>> prepare(const ScrJob& job) {
    FOREBAY_CHECK(run_words_of(job.config, job.places.stage));
    FOREBAY_CHECK(make_directories(job));
    FOREBAY_TRY(const auto halt, scr::read_halt(job.places.halt));
    return why_not_start(halt, static_cast<int64_t>(std::time(nullptr)), true);
  }

  Result<void> make_directories(const ScrJob& job) {
    FOREBAY_CHECK(scr::make_own_directories(job.places));
    FOREBAY_CHECK(find_nodes(job));
    FOREBAY_CHECK(make_node_directories(job.places.stage));
    FOREBAY_TRY(const auto levels, scr::levels_of(job.config));
    for (const scr::LevelOfNode& level : levels)
      FOREBAY_CHECK(make_node_directories(scr::directory_on(level.store, job.places.stage)));
    return {};
  }

  // On all nodes.
  Result<void> make_node_directories(const std::string& path) {
    const std::string above = path.substr(0, path.rfind('/'));
    if (options_.nodes.hosts.size() == 1 && options_.nodes.hosts[0] == "localhost")
      return scr::make_stage_directory(path);
    constexpr auto kPatience = 60s;
    const Words words = {"scr", "prerun", "--stage", path};
    const auto failed = on_all(options_.nodes.hosts, [&](const std::string&) { return words; }, kPatience);
    for (const std::string& host : failed) warn(fmt::format("{} cannot be made on node {}", above, host));
    if (failed.size() == options_.nodes.hosts.size())
      return fail(ErrorKind::disconnected, "no node can be used", {}, {}, "see what --launcher says of them");
    return {};
  }

  Json status(const scr::Places& places, std::chrono::seconds patience) const {
    auto control = Control::reach(places.rendezvous, false, Clock::now() + patience);
    if (!control) return {};
    return control->status().value_or(Json());
  }

  static std::set<std::string> hosts_in(const Json& status) {
    std::set<std::string> hosts;
    if (status.is_object())
      for (const Json& agent : status.value("agents", Json::array()))
        hosts.insert(agent.value("host", Json("")).get<std::string>());
    return hosts;
  }

  // Daemons where none are, then everything that the caches have and is not stored, and their end.
  Result<ExitCode> scavenge(const ScrJob& job, const Console& console) {
    constexpr auto kLook = 3s, kStart = 30s;
    const scr::Places& places = job.places;
    FOREBAY_CHECK(make_directories(job));
    Json now = status(places, kLook);
    const Words of_job = {"--rendezvous", places.rendezvous, "--background", "--linger=60"};
    if (!now.is_object()) {
      FOREBAY_CHECK(job::Rendezvous::open(places.rendezvous));
      FOREBAY_TRY(Words words, run_words_of(job.config, job.places.stage));
      std::erase_if(words, [](const std::string& word) {
        return !word.starts_with("--redundancy") && !word.starts_with("--flush") && !word.starts_with("--failure") &&
               !word.starts_with("--backlog") && word != "--encrypt";
      });
      words.insert(words.begin(), {"aggregator", "--store", places.store, "--series", places.series, "--log",
                                   places.logs + "/aggregator-postrun"});
      words.insert(words.end(), of_job.begin(), of_job.end());
      FOREBAY_CHECK(launch::output_of(on("localhost", words), kStart));
    }
    const auto known = hosts_in(now);
    std::vector<std::string> hosts;
    for (const std::string& host : options_.nodes.hosts)
      if (!known.contains(host)) hosts.push_back(host);
    const bool is_one = options_.nodes.hosts.size() == 1;
    if (is_one && !known.empty()) hosts.clear();
    const auto failed = on_all(
        hosts,
        [&](const std::string& host) {
          Words words = {"agent", "--stage", places.stage, "--log", places.logs + "/agent-postrun-" + host};
          words.insert(words.end(), of_job.begin(), of_job.end());
          if (!is_one) words.insert(words.end(), {"--node", host});
          return words;
        },
        kStart);
    for (const std::string& host : failed)
      warn(fmt::format("node {} is gone: what it had is rebuilt, where that is possible", host));
    const size_t expected = known.size() + hosts.size() - failed.size();
    for (const auto until = Clock::now() + kStart;
         Clock::now() < until && hosts_in(status(places, kLook)).size() < expected;)
      ::usleep(100'000);
    return drain(places, console);
  }

  Result<ExitCode> drain(const scr::Places& places, const Console& console) {
    Json last;
    FOREBAY_CHECK(
        Control::stop(places.rendezvous, false, {.drain = true, .settle = true}, Clock::now() + timeout_, last));
    const auto lines = not_stored(last);
    if (console.json)
      print_json({{"status", last}});
    else
      fmt::print("{}\n", summary_text(last));
    for (const std::string& line : lines) warn(line);
    return lines.empty() ? ExitCode::ok : ExitCode::left;
  }

  Result<ExitCode> launch(const Console& console) {
    FOREBAY_TRY(const ScrJob job, ScrJob::load(prefix_));
    if (operands_.empty())
      return fail(ErrorKind::invalid_argument, "no program to run is given", {}, {}, "put it after '--'");
    FOREBAY_TRY(const auto halted, prepare(job));
    if (halted) {
      warn_of_halt(*halted);
      if (console.json) print_json({{"stage", json_text(job.places.stage)}, {"halted_because", json_text(*halted)}});
      return ExitCode::failed;
    }
    end_lingering(job.places);
    FOREBAY_TRY(const Words words, words_of_run(job));
    if (const std::string end = of_environment("SLURM_JOB_END_TIME"); !end.empty())
      ::setenv("SCR_END_TIME", end.c_str(), 0);
    ::setenv("SCR_PREFIX", job.places.prefix.c_str(), 1);
    const auto verb = make_run_unless([path = job.places.halt]() -> std::optional<std::string> {
      const auto halt = scr::read_halt(path);
      if (!halt) return halt.error().message();
      return why_not_start(*halt, static_cast<int64_t>(std::time(nullptr)), false);
    });
    Syntax syntax;
    verb->declare(syntax);
    FOREBAY_CHECK(syntax.parse("run", words));
    return verb->run(console);
  }

  // Daemons that a program of this job has started by itself; what they had lies in the stages.
  void end_lingering(const scr::Places& places) const {
    auto control = Control::reach(places.rendezvous, false, Clock::now());
    if (!control) return;
    warn("the daemons of the program that ran before in this job are ended: this run has its own");
    Json last;
    (void)control->stop({}, Clock::now() + 10s, last);
  }

  Result<Words> words_of_run(const ScrJob& job) {
    FOREBAY_TRY(Words words, run_words_of(job.config, job.places.stage));
    words.insert(words.end(),
                 {"--store", job.places.store, "--stage", job.places.stage, "--series", job.places.series});
    allocation_.append_to(words);
    const auto add_seconds = [&](const char* option, std::chrono::milliseconds time) {
      if (time.count() > 0) words.push_back(fmt::format("{}={}", option, static_cast<double>(time.count()) / 1000));
    };
    add_seconds("--grace", options_.grace);
    add_seconds("--peer-timeout", peer_timeout_);
    add_seconds("--node-timeout", node_timeout_);
    const auto& nodes = options_.nodes;
    FOREBAY_TRY(const int64_t least, job.config.number("SCR_MIN_NODES"));
    const auto hosts = static_cast<int64_t>(nodes.hosts.size());
    if (least > hosts)
      return fail(ErrorKind::invalid_argument,
                  fmt::format("SCR_MIN_NODES is {}, and there are {} nodes", least, hosts));
    if (hosts > 1) {
      const std::string path = job.places.own + "/nodes." + job.places.job;
      FOREBAY_CHECK(write_new(path, launch::nodes_text(nodes), store::Right::own));
      words.insert(words.end(), {"--nodes-file", path});
    }
    std::string groups;
    for (const std::string& host : nodes.hosts)
      if (const std::string own = job.config.groups_of(host); !own.empty()) groups += host + " " + own + "\n";
    if (!groups.empty()) {
      const std::string path = job.places.own + "/groups." + job.places.job;
      FOREBAY_CHECK(write_new(path, groups, store::Right::own));
      words.insert(words.end(), {"--failure-groups", path});
    }
    if (least > 0 && least < hosts) words.push_back(fmt::format("--spares={}", hosts - least));
    words.push_back("--");
    words.insert(words.end(), operands_.begin(), operands_.end());
    return words;
  }

  std::vector<std::string> operands_;
  std::string prefix_, stage_;
  Allocation allocation_;
  RunOptions options_;
  std::chrono::milliseconds timeout_{3'600'000};
  std::chrono::milliseconds peer_timeout_{0}, node_timeout_{0};  // 0: the default of `forebay run`
  HaltWords halt_;
  IndexWords index_;
};

}  // namespace

Result<ScrJob> ScrJob::load(const std::string& prefix) {
  if (!prefix.empty()) ::setenv("SCR_PREFIX", prefix.c_str(), 1);
  ScrJob job;
  FOREBAY_CHECK(job.config.read_files(system_file()));
  for (const std::string& warning : job.config.warnings()) warn(warning);
  FOREBAY_TRY(job.places, scr::places_of(job.config, scr::process_environment()));
  return job;
}

std::unique_ptr<Verb> make_scr() { return std::make_unique<Scr>(); }

}  // namespace forebay::cli
