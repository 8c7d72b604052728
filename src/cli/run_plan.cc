#include "cli/run_plan.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "base/posix/own_code.h"
#include "cli/common.h"
#include "cli/control.h"
#include "cli/daemon.h"
#include "cli/exit_code.h"
#include "cli/input_copy.h"
#include "cli/json.h"
#include "fabric/socket.h"
#include "launch/run/batch.h"

namespace forebay::cli {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kThisNode = "localhost";
constexpr std::string_view kNodes = "{nodes}";  // stands for the file of the nodes that the application has

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
    directory_ = std::filesystem::current_path(error).string();
  }

  Words here(Words words) const {
    words.insert(words.begin(), own_command());
    return words;
  }

  // In the directory that this process is in, for the sake of relative paths.
  Words on(const std::string& host, Words words) const {
    if (own_names_.contains(host)) return here(std::move(words));
    return options_.launcher.command(host, directory_, joined({own_command()}, words));
  }

 private:
  const RunOptions& options_;
  std::set<std::string> own_names_;
  std::string directory_;
};

// Nodes can be lost where there are several. What a code writes into its directory is gathered on this node alone.
bool has_nodes(const RunOptions& options) { return options.nodes.hosts.size() > 1 && !options.gathering; }

launch::DaemonSpec aggregator_on(const RunOptions& options, const Commands& commands, size_t number,
                                 const std::string& host) {
  const Words words = {"aggregator",
                       "--store",
                       options.store,
                       "--rendezvous",
                       options.rendezvous,
                       "--until-eof",
                       fmt::format("--agents={}", options.gathering ? 1 : options.nodes.hosts.size() - options.spares)};
  return {.name = fmt::format("aggregator {} on {}", number, host),
          .words = commands.on(host, joined(words, options.aggregator_words)),
          .log = fmt::format("{}/aggregator-{}", options.logs, number),
          .host = host,
          .elsewhere = [&options, commands, number](const std::string& other) {
            return aggregator_on(options, commands, number, other);
          }};
}

launch::DaemonSpec agent_on(const RunOptions& options, const Commands& commands, const std::string& host) {
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

Words gather_words(const RunOptions& options) {
  Words words = {"gather", "--stage", options.stage, "--directory", options.gathering->directory};
  return joined(std::move(words), options.gathering->choice.command_line());
}

launch::DaemonSpec gatherer(const RunOptions& options, const Commands& commands) {
  Words words = gather_words(options);
  for (const std::string& own : {options.store, options.rendezvous}) words.insert(words.end(), {"--leave-out", own});
  words.push_back("--until-eof");
  return {.name = "what watches " + options.gathering->directory,
          .words = commands.here(std::move(words)),
          .log = options.logs + "/gather"};
}

std::vector<launch::DaemonSpec> daemons(const RunOptions& options, const Commands& commands,
                                        const launch::Nodes& nodes) {
  std::vector<launch::DaemonSpec> all;
  for (size_t i = 0; i < options.aggregator_hosts.size(); ++i)
    all.push_back(aggregator_on(options, commands, i + 1, options.aggregator_hosts[i]));
  if (options.gathering) {
    all.push_back(agent_on(options, commands, kThisNode));
    all.push_back(gatherer(options, commands));
    return all;
  }
  for (const std::string& host : nodes.hosts) all.push_back(agent_on(options, commands, host));
  return all;
}

std::string nodes_path(const RunOptions& options) { return options.logs + "/nodes"; }

Words application_words(const RunOptions& options) {
  const std::string path = nodes_path(options);
  Words words = options.command;
  for (std::string& word : words)
    for (size_t at = 0; (at = word.find(kNodes, at)) != word.npos; at += path.size())
      word.replace(at, kNodes.size(), path);
  return words;
}

// Through links, such as those of Debian's alternatives.
std::string real_name(const std::string& program) {
  namespace fs = std::filesystem;
  std::error_code fault;
  const char* const places = std::getenv("PATH");
  std::istringstream path(places == nullptr || program.find('/') != program.npos ? "" : places);
  for (std::string place; std::getline(path, place, ':');)
    if (const fs::path file = fs::path(place) / program; ::access(file.c_str(), X_OK) == 0)
      return fs::weakly_canonical(file, fault).filename().string();
  return fs::weakly_canonical(program, fault).filename().string();
}

// What the launcher in front of "{nodes}" reads; where it is not known the file is as the user's was.
std::optional<launch::SlotStyle> style_for(const Words& command) {
  const auto has_nodes = [](const std::string& word) { return word.find(kNodes) != word.npos; };
  const auto end = std::ranges::find_if(command, has_nodes);
  if (end == command.end()) return std::nullopt;
  for (auto word = command.begin(); word != end; ++word)
    for (const std::string& name : {std::filesystem::path(*word).filename().string(), real_name(*word)})
      if (const auto style = launch::style_of_launcher(name)) return style;
  return std::nullopt;
}

uint32_t number_in(const Json& set, const char* name) {
  return set.contains(name) && set[name].is_number_unsigned() ? set[name].get<uint32_t>() : 0;
}

// A row of `forebay ls --json`: of the series, whole as far as its manifest says, and not set aside.
bool is_to_restart_from(const Json& set, const std::string& series) {
  return number_in(set, "rank_count") != 0 && set.value("series", Json()) == Json(series) &&
         set.value("set_aside", Json()).is_null();
}

// The ranks of the newest set of a series that can be read, from what `forebay ls --json` says; 0: there is no set.
Result<uint32_t> ranks_of_newest(const std::string& text, const std::string& series) {
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains("sets"))
    return fail(ErrorKind::internal, "'forebay ls' makes no sense");
  uint32_t ranks = 0;
  for (const Json& set : document["sets"])
    if (is_to_restart_from(set, series)) ranks = number_in(set, "rank_count");
  return ranks;
}

// Whether the series has another set to restart from than this one.
bool has_other(const std::string& listed, const std::string& series, const launch::Sight::Source& than) {
  const Json document = Json::parse(listed, nullptr, false);
  if (!document.is_object() || !document.contains("sets")) return false;
  return std::ranges::any_of(document["sets"], [&](const Json& set) {
    return is_to_restart_from(set, series) && set.value("name", Json()) != Json(than.stored_as);
  });
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
    if (const uint32_t ranks = number_in(set, "rank_count")) return ranks;
  }
  if (is_coming) return {};
  return 0;
}

// From what was seen, after what lay in the stages was offered, of the sets that are coming and then of those that are
// there: what comes in between is in both.
launch::RunPlan::Restores restores(const RunOptions& options, const Commands& commands,
                                   const std::vector<std::string>& looks, bool is_last, const launch::Nodes& nodes) {
  const auto coming = ranks_of_coming(looks[1]);
  FOREBAY_TRY(uint32_t ranks, ranks_of_newest(looks[2], options.series));
  if (!coming && !is_last) return std::nullopt;
  if (coming && *coming != 0) ranks = *coming;
  std::vector<launch::HelperCommand> errands;
  const launch::Nodes this_node = launch::one_node(kThisNode);
  const launch::Nodes& hosts = options.gathering ? this_node : nodes;
  // One asks for all files of what was gathered: from names alone nobody knows whose they are.
  if (options.gathering) ranks = std::min(ranks, 1U);
  const auto placed = launch::place_ranks(hosts, ranks);
  for (size_t i = 0; i < placed.size(); ++i) {
    if (placed[i].empty()) continue;
    Words words = {"fetch",
                   "--json",
                   "--stage",
                   options.stage,
                   "--ranks",
                   launch::ranks_text(placed[i]),
                   fmt::format("--of={}", ranks),
                   fmt::format("--timeout={}", static_cast<double>(options.restart_timeout.count()) / 1000)};
    if (options.gathering) words.push_back("--any-ranks");
    errands.push_back({"the restart on " + hosts.hosts[i], commands.on(hosts.hosts[i], words)});
  }
  return errands;
}

// The set that was brought, by its name in the stage; nothing: there is none.
Result<std::optional<std::string>> brought_set(const std::vector<std::string>& outputs) {
  if (outputs.empty()) return std::nullopt;
  const Json answer = Json::parse(outputs[0], nullptr, false);
  if (!answer.is_object()) return fail(ErrorKind::internal, "'forebay fetch' makes no sense");
  const Json set = answer.value("set", Json());
  if (set.is_null()) return std::nullopt;
  if (!set.is_string()) return fail(ErrorKind::unsupported, "the set's name is not valid UTF-8");
  return set.get<std::string>();
}

Result<launch::RunPlan::Resumed> resumed(const RunOptions& options, const std::vector<std::string>& outputs) {
  FOREBAY_TRY(const auto set, brought_set(outputs));
  if (!set) return launch::RunPlan::Resumed();
  const std::string directory = options.stage + "/" + *set;
  launch::RunPlan::Resumed resumed;
  FOREBAY_TRY(resumed.more, launch::split_words(options.restart_args));
  for (std::string& word : resumed.more)
    for (size_t at = 0; (at = word.find("{}", at)) != word.npos; at += directory.size()) word.replace(at, 2, directory);
  return resumed;
}

// As 'forebay gather --put-back' prints it.
Result<launch::RunPlan::Resumed> resumed_code(const RunOptions& options, const std::vector<std::string>& outputs) {
  const Json answer = outputs.empty() ? Json() : Json::parse(outputs[0], nullptr, false);
  if (!answer.is_object() || !answer.contains("argument_words")) return launch::RunPlan::Resumed();  // there was no set
  launch::RunPlan::Resumed resumed;
  try {
    resumed.command = answer.at("command_words").get<Words>();
    resumed.more = answer.at("argument_words").get<Words>();
    for (const auto& [name, value] : answer.at("environment").items())
      resumed.environment.emplace_back(name, value.get<std::string>());
  } catch (const Json::exception&) {
    return fail(ErrorKind::unsupported, "a word of the command is not valid UTF-8");
  }
  if (!options.gathering->input || !resumed.command.empty()) return resumed;
  launch::rules::Words words;
  for (const auto& [name, value] : resumed.environment)
    for (const auto& [variable, word] :
         {std::pair("FOREBAY_PATH", "path"), std::pair("FOREBAY_SET", "set"), std::pair("FOREBAY_STEP", "step")})
      if (name == variable) words[word] = value;
  FOREBAY_TRY(resumed.command, command_with_copy(*options.gathering->input, application_words(options), words));
  return resumed;
}

void plan_gathering(const RunOptions& options, const Commands& commands, launch::RunPlan& plan) {
  const auto order = [&options, commands](const char* event) {
    return launch::HelperCommand{"'forebay gather'",
                                 commands.here({"gather", "--stage", options.stage, "--order", event})};
  };
  plan.begin = order("begin");
  plan.end = [order](bool was_killed) { return order(was_killed ? "killed" : "ended"); };
  plan.put_back = [&options,
                   commands](const std::vector<std::string>& outputs) -> Result<std::optional<launch::HelperCommand>> {
    FOREBAY_TRY(const auto set, brought_set(outputs));
    if (!set) return std::nullopt;
    Words words = joined(gather_words(options), {"--put-back", *set, "--json"});
    for (const auto& [name, value] : {std::pair("--restore-to", options.gathering->restore_to),
                                      std::pair("--restart-command", options.gathering->restart_command),
                                      std::pair("--restart-args", options.restart_args)})
      if (!value.empty()) words.insert(words.end(), {name, value});
    return launch::HelperCommand{"'forebay gather --put-back'", commands.here(std::move(words))};
  };
  plan.resumed = [&options](const std::vector<std::string>& outputs) { return resumed_code(options, outputs); };
}

}  // namespace

Result<launch::RunPlan> make_plan(const RunOptions& options) {
  using std::chrono::milliseconds;
  const Commands commands(options);
  launch::RunPlan plan;
  FOREBAY_TRY(plan.nodes, launch::NodeTable::create(options.nodes, options.spares));
  plan.daemons = daemons(options, commands, plan.nodes.in_use());
  plan.application = application_words(options);
  plan.environment = {{"FOREBAY_STAGE", options.stage},
                      {"FOREBAY_RENDEZVOUS", options.rendezvous},
                      {"FOREBAY_STORE", options.store},
                      {"FOREBAY_SERIES", options.series},
                      {"FOREBAY_NODES_FILE", nodes_path(options)}};
  plan.relaunches = options.relaunches;
  plan.relaunch_pause = options.relaunch_pause;
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
  if (!options.restart_args.empty() || options.gathering)
    plan.looks = {{"'forebay settle'", of_job({"settle", "--json"}), true, static_cast<int>(ExitCode::left)},
                  {"'forebay status'", of_job({"status", "--json"}), true},
                  {"'forebay ls'", commands.here({"ls", options.store, "--json"})}};
  plan.restores = [options, commands](const std::vector<std::string>& looks, bool is_last, const launch::Nodes& nodes) {
    return restores(options, commands, looks, is_last, nodes);
  };
  plan.announce = [path = nodes_path(options), style = style_for(options.command)](const launch::Nodes& nodes) {
    const launch::Nodes form = style ? launch::in_style(nodes, *style) : nodes;
    return write_new(path, launch::nodes_text(form), store::Right::own);
  };
  plan.watch = {.hang = options.hang_timeout,
                .interval = options.set_interval,
                .node = has_nodes(options) ? options.node_timeout : milliseconds(0)};
  plan.look = {"'forebay status'", of_job({"status", "--json"}), true};
  plan.exclude = [of_job](const std::string& host) {
    return launch::HelperCommand{"'forebay stop --node'", of_job({"stop", "--json", "--node", host}), true};
  };
  if (has_nodes(options))
    plan.try_node = [commands](const std::string& host) {
      return launch::HelperCommand{"'forebay --version' on " + host, commands.on(host, {"--version"}), true};
    };
  plan.list = {"'forebay ls'", commands.here({"ls", options.store, "--json"})};
  plan.has_other = [series = options.series](const std::string& listed, const launch::Sight::Source& set) {
    return has_other(listed, series, set);
  };
  plan.reject = [of_job](const launch::Sight::Source& set, const std::string& reason) {
    Words words = {"reject", set.set, "--json", "--reason", reason};
    if (!set.stored_as.empty()) words.insert(words.end(), {"--stored-as", set.stored_as});
    return launch::HelperCommand{"'forebay reject'", of_job(words)};
  };
  plan.resumed = [&options](const std::vector<std::string>& outputs) { return resumed(options, outputs); };
  if (options.gathering) plan_gathering(options, commands, plan);
  plan.deadline = options.deadline;
  plan.ask_time = {"the question for the time that is left", options.left_command};
  plan.time_left = launch::parse_time_left;
  const auto patience = fmt::format("--timeout={}", static_cast<double>(options.drain_timeout.count()) / 1000);
  plan.drain = {.name = "the drain",
                .words = of_job({"stop", "--drain", "--settle", "--json", patience}),
                .also_good = static_cast<int>(ExitCode::left)};
  return plan;
}

bool is_own(const std::string& host) {
  static const std::set<std::string> names = own_names();
  return names.contains(host);
}

bool is_on_this_node(const RunOptions& options) {
  return std::ranges::all_of(options.nodes.hosts, is_own) && std::ranges::all_of(options.aggregator_hosts, is_own);
}

std::string job_id() {
  std::string id;
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"})
    if (id.empty()) id = of_environment(name);
  if (!store::is_set_name(id)) id = fmt::format("{}-{}-{}", host_name(), ::getpid(), std::time(nullptr));
  return id;
}

}  // namespace forebay::cli
