#include "cli/run_plan.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/control.h"
#include "cli/daemon.h"
#include "cli/exit_code.h"
#include "cli/json.h"
#include "fabric/socket.h"
#include "job/run/batch.h"

namespace forebay::cli {
namespace {

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string host_name() {
  char name[256]{};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

// The names of this node, by which a file of nodes may call it.
std::set<std::string> own_names() {
  const std::string name = host_name();
  std::set<std::string> names = {"localhost", "127.0.0.1", name, name.substr(0, name.find('.'))};
  for (const std::string& address : fabric::host_addresses()) names.insert(address);
  return names;
}

// Command lines of this program, on this node or another.
class Commands {
 public:
  explicit Commands(const RunOptions& options) : options_(options), own_names_(own_names()) {
    std::error_code error;
    self_ = std::filesystem::read_symlink("/proc/self/exe", error).string();
    if (error) self_ = "forebay";
    directory_ = std::filesystem::current_path(error).string();
  }

  Words here(Words words) const {
    words.insert(words.begin(), self_);
    return words;
  }

  // In the directory that this process is in, for the sake of relative paths.
  Words on(const std::string& host, Words words) const {
    if (own_names_.contains(host)) return here(std::move(words));
    return options_.launcher.command(host, directory_, joined({self_}, words));
  }

 private:
  const RunOptions& options_;
  std::set<std::string> own_names_;
  std::string self_, directory_;
};

// Nodes can be lost where there are several.
bool has_nodes(const RunOptions& options) { return options.nodes.hosts.size() > 1; }

job::DaemonSpec aggregator_on(const RunOptions& options, const Commands& commands, size_t number,
                              const std::string& host) {
  const Words words = {"aggregator",
                       "--store",
                       options.store,
                       "--rendezvous",
                       options.rendezvous,
                       "--until-eof",
                       fmt::format("--agents={}", options.nodes.hosts.size() - options.spares)};
  return {.name = fmt::format("aggregator {} on {}", number, host),
          .words = commands.on(host, joined(words, options.aggregator_words)),
          .log = fmt::format("{}/aggregator-{}", options.logs, number),
          .host = host,
          .elsewhere = [&options, commands, number](const std::string& other) {
            return aggregator_on(options, commands, number, other);
          }};
}

job::DaemonSpec agent_on(const RunOptions& options, const Commands& commands, const std::string& host) {
  Words words = {"agent", "--stage", options.stage, "--rendezvous", options.rendezvous, "--until-eof"};
  if (has_nodes(options)) words.insert(words.end(), {"--node", host});
  if (const auto groups = options.failure_groups.find(host); groups != options.failure_groups.end())
    words.insert(words.end(), {"--failure-groups", groups->second});
  if (options.hang_timeout.count() > 0) words.push_back("--watch-ranks");
  return {.name = "the agent on " + host,
          .words = commands.on(host, joined(words, options.agent_words)),
          .log = fmt::format("{}/agent-{}", options.logs, host),
          .host = host,
          .elsewhere = [&options, commands](const std::string& other) { return agent_on(options, commands, other); }};
}

std::vector<job::DaemonSpec> daemons(const RunOptions& options, const Commands& commands, const job::Nodes& nodes) {
  std::vector<job::DaemonSpec> all;
  for (size_t i = 0; i < options.aggregator_hosts.size(); ++i)
    all.push_back(aggregator_on(options, commands, i + 1, options.aggregator_hosts[i]));
  for (const std::string& host : nodes.hosts) all.push_back(agent_on(options, commands, host));
  return all;
}

std::string nodes_path(const RunOptions& options) { return options.logs + "/nodes"; }

// "{nodes}" stands for the file of the nodes that the application has.
Words application_words(const RunOptions& options) {
  constexpr std::string_view kNodes = "{nodes}";
  const std::string path = nodes_path(options);
  Words words = options.command;
  for (std::string& word : words)
    for (size_t at = 0; (at = word.find(kNodes, at)) != word.npos; at += path.size())
      word.replace(at, kNodes.size(), path);
  return words;
}

uint32_t number_in(const Json& set, const char* name) {
  return set.contains(name) && set[name].is_number_unsigned() ? set[name].get<uint32_t>() : 0;
}

// The ranks of the newest set of a series that can be read, from what `forebay ls --json` says; 0: there is no set.
Result<uint32_t> ranks_of_newest(const std::string& text, const std::string& series) {
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains("sets"))
    return fail(ErrorKind::internal, "'forebay ls' makes no sense");
  uint32_t ranks = 0;
  for (const Json& set : document["sets"])
    if (const uint32_t number = number_in(set, "ranks"); number != 0 && set.value("series", Json()) == Json(series))
      ranks = number;
  return ranks;
}

// Of a set that is on its way to the store, from what `forebay status --json` says; 0: there is none. A restart waits
// for it. Nothing: its ranks are not known before it is drained, or nobody says anything.
std::optional<uint32_t> ranks_of_coming(const std::string& text) {
  const Json status = Json::parse(text, nullptr, false);
  if (!status.is_object() || !status.contains("sets")) return {};
  bool is_coming = false;
  for (const Json& set : status["sets"]) {
    if (!set.value("complete", false)) continue;
    is_coming = true;
    if (const uint32_t ranks = number_in(set, "ranks")) return ranks;
  }
  if (is_coming) return {};
  return 0;
}

// From what was seen, after what lay in the stages was offered, of the sets that are coming and then of those that are
// there: what comes in between is in both.
job::RunPlan::Restores restores(const RunOptions& options, const Commands& commands,
                                const std::vector<std::string>& looks, bool is_last, const job::Nodes& nodes) {
  const auto coming = ranks_of_coming(looks[1]);
  FOREBAY_TRY(uint32_t ranks, ranks_of_newest(looks[2], options.series));
  if (!coming && !is_last) return std::nullopt;
  if (coming && *coming != 0) ranks = *coming;
  std::vector<job::HelperCommand> errands;
  const auto placed = job::place_ranks(nodes, ranks);
  for (size_t i = 0; i < placed.size(); ++i) {
    if (placed[i].empty()) continue;
    const Words words = {"fetch",
                         "--json",
                         "--stage",
                         options.stage,
                         "--ranks",
                         job::ranks_text(placed[i]),
                         fmt::format("--of={}", ranks),
                         fmt::format("--timeout={}", static_cast<double>(options.restart_timeout.count()) / 1000)};
    errands.push_back({"the restart on " + nodes.hosts[i], commands.on(nodes.hosts[i], words)});
  }
  return errands;
}

Result<Words> restart_words(const RunOptions& options, const std::vector<std::string>& outputs) {
  if (outputs.empty()) return Words{};
  const Json answer = Json::parse(outputs[0], nullptr, false);
  if (!answer.is_object()) return fail(ErrorKind::internal, "'forebay fetch' makes no sense");
  if (!answer.value("found", false)) return Words{};
  const Json set = answer.value("set", Json());
  if (!set.is_string()) return fail(ErrorKind::unsupported, "the set's name is no text");
  const std::string directory = options.stage + "/" + set.get<std::string>();
  FOREBAY_TRY(auto words, job::split_words(options.restart_args));
  for (std::string& word : words)
    for (size_t at = 0; (at = word.find("{}", at)) != word.npos; at += directory.size()) word.replace(at, 2, directory);
  return words;
}

}  // namespace

Result<job::RunPlan> make_plan(const RunOptions& options) {
  using std::chrono::milliseconds;
  const Commands commands(options);
  job::RunPlan plan;
  FOREBAY_TRY(plan.nodes, job::NodeTable::create(options.nodes, options.spares));
  plan.daemons = daemons(options, commands, plan.nodes.in_use());
  plan.application = application_words(options);
  plan.environment = {{"FOREBAY_STAGE", options.stage},
                      {"FOREBAY_RENDEZVOUS", options.rendezvous},
                      {"FOREBAY_STORE", options.store},
                      {"FOREBAY_SERIES", options.series},
                      {"FOREBAY_NODES_FILE", nodes_path(options)}};
  plan.relaunches = options.relaunches;
  plan.hold = options.hold;
  plan.grace = options.grace;
  constexpr milliseconds kSlack{10'000};  // for a process to say itself that its time is over
  plan.restart_timeout = options.restart_timeout + kSlack;
  plan.drain_timeout = options.drain_timeout + kSlack;
  const auto of_job = [&options, commands](Words words) {
    words.insert(words.end(), {"--rendezvous", options.rendezvous});
    if (options.munge) words.push_back("--munge");
    return commands.here(words);
  };
  if (!options.restart_args.empty())
    plan.looks = {{"'forebay settle'", of_job({"settle", "--json"}), true, static_cast<int>(ExitCode::left)},
                  {"'forebay status'", of_job({"status", "--json"}), true},
                  {"'forebay ls'", commands.here({"ls", options.store, "--json"})}};
  plan.restores = [options, commands](const std::vector<std::string>& looks, bool is_last, const job::Nodes& nodes) {
    return restores(options, commands, looks, is_last, nodes);
  };
  plan.announce = [path = nodes_path(options)](const job::Nodes& nodes) {
    return write_new(path, job::nodes_text(nodes));
  };
  plan.watch = {.hang = options.hang_timeout,
                .interval = options.set_interval,
                .node = has_nodes(options) ? options.node_timeout : milliseconds(0)};
  plan.look = {"'forebay status'", of_job({"status", "--json"}), true};
  plan.exclude = [of_job](const std::string& host) {
    return job::HelperCommand{"'forebay stop --node'", of_job({"stop", "--json", "--node", host}), true};
  };
  plan.restart_words = [options](const std::vector<std::string>& outputs) { return restart_words(options, outputs); };
  plan.deadline = options.deadline;
  plan.ask_time = {"the question for the time that is left", options.left_command};
  plan.time_left = job::parse_time_left;
  const auto patience = fmt::format("--timeout={}", static_cast<double>(options.drain_timeout.count()) / 1000);
  plan.drain = {.name = "the drain",
                .words = of_job({"stop", "--drain", "--settle", "--json", patience}),
                .also_good = static_cast<int>(ExitCode::left)};
  return plan;
}

std::string job_id() {
  std::string id;
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"})
    if (id.empty()) id = of_environment(name);
  if (!store::is_set_name(id)) id = fmt::format("{}-{}-{}", host_name(), ::getpid(), std::time(nullptr));
  return id;
}

}  // namespace forebay::cli
