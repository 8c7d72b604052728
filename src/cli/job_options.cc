#include "cli/job_options.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include "cli/common.h"
#include "cli/units.h"
#include "job/rendezvous/rendezvous.h"
#include "launch/run/failure_groups.h"
#include "redundancy/scheme.h"

namespace forebay::cli {
namespace {

constexpr std::string_view kLocal = "local";
constexpr uint64_t kMostStreams = 64;

template <class T>
Setter set_small_count(T& to, uint64_t least, uint64_t most = 1'000'000) {
  return [&to, least, most](const std::string& text) -> Result<void> {
    FOREBAY_TRY(const uint64_t count, parse_count(text));
    if (count < least || count > most)
      return fail(ErrorKind::invalid_argument, fmt::format("must be between {} and {}", least, most));
    to = static_cast<T>(count);
    return {};
  };
}

}  // namespace

void JobOptions::declare_stage(Syntax& syntax) {
  syntax.option("--stage", "DIR", "The directory of each node that the application writes its sets to. Needed.",
                set_text(stage));
}

void JobOptions::declare_rendezvous(Syntax& syntax) {
  syntax.option("--rendezvous", "DIR",
                "Where the job's processes find each other: a directory that all nodes see. Default: "
                "$FOREBAY_RENDEZVOUS.",
                set_text(rendezvous));
}

void JobOptions::declare_listen(Syntax& syntax, const std::string& otherwise) {
  syntax.record({&agent_words, &aggregator_words});
  syntax.option("-l,--listen", "ADDRESS",
                "Serve at tcp:HOST:PORT (port 0 is any, host * every interface) or unix:PATH, or with 'local' only "
                "processes of this node. Default: " +
                    otherwise + ".",
                [this](const std::string& text) -> Result<void> {
                  is_local_ = is_local_ || text == kLocal;
                  if (text == kLocal) return {};
                  FOREBAY_TRY(auto address, fabric::parse_address(text));
                  listen_.push_back(std::move(address));
                  return {};
                });
  syntax.option("--ports", "LOW-HIGH", "Take ports of TCP from this range. Default: $FOREBAY_PORTS, else any.",
                set_text(ports_));
  syntax.record({});
}

void JobOptions::declare_encrypt(Syntax& syntax) {
  syntax.record({&agent_words, &aggregator_words});
  syntax.flag("--encrypt", encrypt, "Encrypt what goes over TCP, and refuse processes that do not. Default: off.");
  syntax.record({});
}

void JobOptions::declare_series(Syntax& syntax, const std::string& otherwise) {
  syntax.option(
      "--series", "NAME",
      fmt::format("The series whose sets these are, and continue. Default: $FOREBAY_SERIES, else {}.", otherwise),
      set_text(series));
}

void JobOptions::declare_agents(Syntax& syntax) {
  syntax.option("--agents", "COUNT",
                "Nodes whose parts make a set complete, where the agents do not know the number of ranks.",
                set_small_count(aggregator.coordinator.agents, 1));
}

// "DIR,every=4,keep=2,capacity=100G"
static Result<job::LevelOptions> parse_level(const std::string& text) {
  job::LevelOptions level;
  const auto wrong = [&](std::string_view part) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' is none of every=N, keep=COUNT and capacity=SIZE", part));
  };
  const size_t comma = text.find(',');
  if (!text.starts_with('/'))
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' is no absolute path, the same on every node", text.substr(0, comma)));
  level.directory = job::level_name(text.substr(0, comma));
  for (size_t at = comma; at != std::string::npos;) {
    const size_t next = text.find(',', at + 1);
    const std::string part = text.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    const size_t sign = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, sign), value = part.substr(std::min(sign + 1, part.size()));
    if (name == "every") {
      FOREBAY_CHECK(set_count(level.every)(value));
    } else if (name == "keep") {
      FOREBAY_CHECK(set_small_count(level.keep, 0)(value));
    } else if (name == "capacity") {
      FOREBAY_CHECK(set_bytes(level.capacity)(value));
    } else {
      return wrong(part);
    }
    at = next;
  }
  return level;
}

void JobOptions::declare_agent(Syntax& syntax) {
  syntax.record({&agent_words});
  syntax.option("--complete", "RULE",
                "When a set is complete whose writer does not say so: api (never), marker:PATTERN, rename, or "
                "settled:FILES[:SECONDS]. Default: api.",
                [this](const std::string& text) -> Result<void> {
                  FOREBAY_TRY(agent.completion, job::parse_completion(text));
                  return {};
                });
  syntax.option("--keep", "COUNT",
                fmt::format("Newest durable or cached sets that stay in the stage. Default: {}.", agent.keep),
                set_small_count(agent.keep, 0));
  syntax.option("--stage-capacity", "SIZE",
                "Keep at most SIZE of sets in the stage, as far as older ones may go. Default: no limit.",
                set_bytes(agent.capacity));
  syntax.option("--level", "DIR[,every=N][,keep=COUNT][,capacity=SIZE]",
                "Another place for sets, as on an SSD: each N-th set lies in DIR, which is this stage's alone, and "
                "COUNT of them stay there (1). May be given several times; the largest N that fits counts.",
                [this](const std::string& text) -> Result<void> {
                  FOREBAY_TRY(job::LevelOptions level, parse_level(text));
                  agent.levels.push_back(std::move(level));
                  return {};
                });
  syntax.flag("--sync-caches", agent.sync_caches,
              "A set that nodes protect counts as protected only when it is durable on their disks: for stages that "
              "survive a power cut.");
  syntax.record({});
}

void JobOptions::declare_linger(Syntax& syntax) {
  syntax.option("--linger", "SECONDS",
                "End after SECONDS without a rank of the job and without work. Default: wait until the job is stopped.",
                [this](const std::string& text) -> Result<void> {
                  FOREBAY_CHECK(set_seconds(agent.linger)(text));
                  aggregator.linger = agent.linger;
                  return {};
                });
}

void JobOptions::declare_place(Syntax& syntax) {
  syntax.option("--node", "NAME", "Call the node this, in messages and for 'forebay stop --node'. Default: its name.",
                set_text(agent.host));
  syntax.option(
      "--failure-groups", "KIND=LABEL,...",
      "Name what fails together with this node, as in power=psu1,switch=0. Aggregators know which KIND counts.",
      [this](const std::string& text) -> Result<void> {
        FOREBAY_TRY(agent.failure_groups, launch::parse_failure_groups(text));
        return {};
      });
  syntax.flag("--watch-ranks", agent.watches_ranks,
              "Report how much processor time the application uses: processes of this user that have the job's "
              "$FOREBAY_RENDEZVOUS.");
}

void JobOptions::declare_aggregator(Syntax& syntax) {
  syntax.record({&aggregator_words});
  auto& options = aggregator.coordinator;
  declare_memory(syntax, resources_);
  declare_threads(syntax, resources_);
  syntax.option("--pfs-limit", "SIZE", "Write at most SIZE a second to the store. Default: no limit.",
                set_bytes(pfs_limit));
  syntax.option("--streams", "COUNT",
                fmt::format("Write or read at most COUNT containers at once, as far as --memory has room for them. "
                            "Default: {}.",
                            aggregator.worker.streams),
                set_small_count(aggregator.worker.streams, 1, kMostStreams));
  syntax.option(
      "--group-size", "COUNT",
      fmt::format("Ranks per container. Default: {}, and fewer in large sets, so that each stream has a container.",
                  options.group_size),
      [&options](const std::string& text) -> Result<void> {
        options.fills_streams = false;
        return set_count(options.group_size)(text);
      });
  syntax.option("--keep-last", "COUNT",
                "Remove all but the newest COUNT sets of the series from the store, each time that one is durable and "
                "reads back whole. Default: all stay.",
                set_count(options.retention.keep_last));
  syntax.option("--keep-every", "COUNT", "With --keep-last: keep the sets whose step is a multiple of COUNT, too.",
                set_count(options.retention.keep_every));
  declare_compression(syntax, compression_);
  syntax.option("--backlog", "POLICY",
                "When sets are complete faster than they are drained: newest (older ones that wait are skipped), skip "
                "(those that come meanwhile), or block (the application waits). Default: newest.",
                [&options](const std::string& text) -> Result<void> {
                  const auto backlog = job::parse_backlog(text);
                  if (!backlog) return fail(ErrorKind::invalid_argument, "is newest, skip or block");
                  options.backlog = *backlog;
                  return {};
                });
  syntax.option("--backlog-sets", "COUNT",
                fmt::format("With block: let COUNT sets wait or be drained before the application waits. Default: {}.",
                            options.backlog_sets),
                set_small_count(options.backlog_sets, 1));
  syntax.option("--redundancy", "SCHEME",
                "How nodes protect the sets in their stages: none, partner, xor[:SIZE] or rs:LOSSES[:SIZE]; groups "
                "have SIZE nodes, and survive the loss of one, or of LOSSES. Default: none.",
                [&options](const std::string& text) -> Result<void> {
                  FOREBAY_TRY(options.protection, redundancy::parse_protection(text));
                  return {};
                });
  syntax.option("--flush-every", "COUNT",
                "Store every COUNT-th set only; the others stay in the stages until newer ones have come; "
                "0: none but the last. Default: 1.",
                set_small_count(options.flush_every, 0));
  syntax.option(
      "--failure-group", "KIND",
      "No two nodes of a protection group may have the same label of this KIND, which agents have. Default: node.",
      set_text(options.failure_group));
  declare_clock(syntax, job::clocks::kSet, options.set_timeout);
  declare_clock(syntax, job::clocks::kStall, options.stall_timeout);
  declare_clock(syntax, job::clocks::kPeer, options.peer_timeout);
  syntax.record({});
}

void declare_clock(Syntax& syntax, const job::TimeBound& clock, std::chrono::milliseconds& to, std::string_view of) {
  syntax.option(std::string(clock.option), "SECONDS", fmt::format("{}{}", of, job::help_of(clock)), set_seconds(to));
}

void JobOptions::declare_shared(Syntax& syntax) {
  syntax.record({&agent_words, &aggregator_words});
  syntax.option("--fabric", "TRANSPORT", "How bytes go: auto, node (within a node only), stream or ucx. Default: auto.",
                set_text(fabric_));
  syntax.option("--priority", "CLASS", "Of its threads: normal, nice or idle. Default: nice.",
                [this](const std::string& text) -> Result<void> {
                  FOREBAY_TRY(agent.priority, job::parse_priority(text));
                  return {};
                });
  syntax.flag("--munge", munge_, "Let MUNGE vouch for the user, instead of the job's secret.");
  declare_description(syntax, description_);
  syntax.record({});
}

Result<void> JobOptions::complete_shared() {
  if (is_complete_) return {};
  is_complete_ = true;
  FOREBAY_TRY(agent.ports, fabric::parse_ports(ports_.empty() ? of_environment("FOREBAY_PORTS") : ports_));
  aggregator.ports = agent.ports;
  if (rendezvous.empty()) rendezvous = of_environment("FOREBAY_RENDEZVOUS");
  if (rendezvous.empty())
    return fail(ErrorKind::invalid_argument, "no rendezvous directory is given", {}, {}, "use --rendezvous DIR");
  const auto choice = job::parse_fabric_choice(fabric_);
  if (!choice) return fail(ErrorKind::invalid_argument, "--fabric is auto, node, stream or ucx");
  aggregator.worker.fabric = *choice;
  agent.ucx = *choice == job::FabricChoice::ucx;
  if (encrypt && (munge_ || agent.ucx))
    return fail(ErrorKind::invalid_argument,
                "--encrypt takes its keys from the job's secret, and goes with neither --munge nor --fabric ucx");
  return complete(description_);
}

Result<void> JobOptions::complete_agent() {
  FOREBAY_CHECK(complete_shared());
  if (stage.empty()) return fail(ErrorKind::invalid_argument, "no stage is given", {}, {}, "use --stage DIR");
  agent.stage = stage;
  agent.rendezvous = rendezvous;
  agent.format = description_.format;
  if (listens()) agent.listen = listen_;  // besides the stage's own socket
  agent.credentials.munge = munge_;
  return {};
}

Result<void> JobOptions::complete_aggregator() {
  FOREBAY_CHECK(complete_shared());
  if (store.empty()) store = store_of_environment();
  if (store.empty())
    return fail(ErrorKind::invalid_argument, "no store is given", {}, {}, "use --store STORE, or set FOREBAY_STORE");
  if (aggregator.coordinator.retention.keep_every != 0 && aggregator.coordinator.retention.keep_last == 0)
    return fail(ErrorKind::invalid_argument, "--keep-every needs --keep-last COUNT");
  aggregator.store = store;
  aggregator.rendezvous = rendezvous;
  aggregator.munge = munge_;
  aggregator.encrypt = encrypt;
  aggregator.listen = listen_;
  if (is_local_) aggregator.listen.push_back(job::address_of_this_node());
  FOREBAY_CHECK(complete(compression_, aggregator.worker.pack));
  aggregator.worker.pack.similarity = description_.similarity;
  aggregator.worker.pack.format = description_.format;
  aggregator.worker.resources = resources_.resolved();
  if (pfs_limit > 0) {
    limit_ = std::make_unique<RateLimit>(pfs_limit);
    aggregator.worker.limit = limit_.get();
  }
  return {};
}

std::function<void(fabric::Severity, const std::string&)> log_to(Daemon& daemon) {
  return [&daemon](fabric::Severity severity, const std::string& text) {
    daemon.log(severity == fabric::Severity::warning ? LogLevel::warning : LogLevel::info, text);
  };
}

std::string joined(const std::vector<fabric::Address>& addresses) {
  std::string text;
  for (const fabric::Address& address : addresses) text += (text.empty() ? "" : ",") + fabric::to_string(address);
  return text;
}

Json json_addresses(const std::vector<fabric::Address>& addresses) {
  Json list = Json::array();
  for (const fabric::Address& address : addresses) list.push_back(json_text(fabric::to_string(address)));
  return list;
}

Result<void> set_priority(job::Priority priority) {
  constexpr int kNice = 10;  // as agents: nearer to the end a busy node lets them miss their pings
  const sched_param none{};
  if (priority == job::Priority::nice && ::setpriority(PRIO_PROCESS, 0, kNice) != 0)
    return fail_errno(errno, "setpriority", {});
  if (priority == job::Priority::idle && ::sched_setscheduler(0, SCHED_IDLE, &none) != 0)
    return fail_errno(errno, "sched_setscheduler", {});
  return {};
}

}  // namespace forebay::cli
