// The application of the model, an MPI program that writes set after set, and what `forebay run` does with it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "cli/summary.h"
#include "job.h"

namespace forebay::job::model {
namespace {

constexpr auto kAgentPause = 200ms;
constexpr auto kAgentPatience = 60s;
constexpr auto kAskAgain = 400ms;
constexpr auto kControlSilence = 30s;
constexpr auto kNodeTimeout = 4s;  // --node-timeout: how long a node may be without agent

std::string set_name(int64_t position) { return fmt::format("s{}", position); }

}  // namespace

void Job::launch() {
  if (is_over_) return;
  auto application = std::make_unique<Application>();
  application->attempt = applications_.size() + 1;
  std::vector<std::string> nodes = in_use_;
  if (placement_ == "order") std::ranges::sort(nodes);
  if (placement_ == "rotate") std::ranges::rotate(nodes, nodes.begin() + 1);
  for (uint32_t i = 0; i < nodes.size() * setup_.ranks; ++i) {
    auto rank = std::make_unique<Rank>();
    rank->process = std::make_shared<Process>();
    rank->process->name = fmt::format("r{}", i);
    rank->number = i;
    rank->node = node(nodes[i / setup_.ranks]);
    rank->pid = ++pids_;
    application->ranks.push_back(std::move(rank));
  }
  say(fmt::format("starts the application ({}) on {}", application->attempt, fmt::join(nodes, " ")));
  applications_.push_back(std::move(application));
  for (const auto& rank : applications_.back()->ranks) {
    rank->lost_at = loop_.now;
    ask(*rank, "a restart", [this, &one = *rank](LinkId link) {
      if (meter_ == nullptr) truth_.asks(applications_.back()->attempt, nanoseconds());
      net_.send(link, one.process, wire::RestartT{});
    });
    connect(*rank);
  }
}

void Job::ask(Rank& rank, std::string what, std::function<void(LinkId)> question) {
  rank.waits_for = std::move(what);
  rank.question = std::move(question);
  if (rank.link != 0) rank.question(rank.link);
}

// To the agent of its node, again when that one is gone.
void Job::connect(Rank& rank) {
  Agent* const agent = rank.node->agent;
  if (agent == nullptr || !agent->process()->is_alive || !rank.node->is_up) {
    if (loop_.now - rank.lost_at > kAgentPatience) return end_application(false, "no agent answers");
    return loop_.after(kAgentPause, rank.process, [this, &rank] { connect(rank); });
  }
  auto id = std::make_shared<LinkId>(0);
  *id = net_.open({.process = rank.process,
                   .node = rank.node->name,
                   .received = [this, &rank](wire::MessageT message) { rank_hears(rank, std::move(message)); },
                   .closed =
                       [this, &rank] {
                         rank.link = 0;
                         rank.lost_at = loop_.now;
                         connect(rank);
                       }},
                  {.process = agent->process(),
                   .node = rank.node->name,
                   .received = [agent, id](wire::MessageT message) { agent->hear_rank(*id, std::move(message)); },
                   .closed = [agent, id] { agent->rank_gone(*id); }});
  rank.link = *id;
  net_.send(rank.link, rank.process,
            wire::ClientHelloT{.rank = rank.number,
                               .ranks = static_cast<uint32_t>(applications_.back()->ranks.size()),
                               .pid = rank.pid,
                               .attempt = applications_.back()->attempt});
  if (rank.question) rank.question(rank.link);
}

void Job::rank_hears(Rank& rank, wire::MessageT message) {
  if (applications_.back()->is_over) return;
  if (const auto* refused = message.body.AsRefused())
    return end_application(false,
                           fmt::format("rank {} is refused {}: {}", rank.number, rank.waits_for, refused->message));
  const bool is_answer =
      message.body.AsRestarted() || message.body.AsBegun() || message.body.AsSetNews() || message.body.AsReject();
  if (!is_answer || !rank.question) return;
  rank.question = {};
  rank.waits_for.clear();
  if (const auto* answer = message.body.AsRestarted()) return restarted(rank, *answer);
  if (const auto* refused = message.body.AsReject()) {
    truth_.refused(refused->set);
    return end_application(false, "it refuses what it restarted from");
  }
  if (const auto* begun = message.body.AsBegun())
    return loop_.after(net_.delay(++delays_), rank.process,
                       [this, &rank, set = begun->directory] { write(rank, set); });
  rank_is_done(rank);
}

void Job::restarted(Rank& rank, const wire::RestartedT& answer) {
  const Application& application = *applications_.back();
  static const std::map<std::string, Body> nothing;
  const auto staged = rank.node->disk.sets.find(answer.set);
  const auto* files = !answer.found ? nullptr : staged == rank.node->disk.sets.end() ? &nothing : &staged->second.files;
  // What somebody removes after it was put in its place is nobody's fault.
  const bool has_vanished = files != nullptr && !files->contains(file_of(rank.number)) && rank.node->vanished > 0;
  if (has_vanished) return end_application(false, "a file of its restart is gone");
  if (meter_ == nullptr)
    truth_.answered(application.attempt, rank.number, answer.set, answer.stored_as, files, views(), store_);
  if (answer.found) ++restarts_;
  if (answer.found && rejects_) refused_ = {answer.set, answer.stored_as};
  applications_.back()->position = answer.found && answer.step ? *answer.step : 0;
  rank_is_done(rank);
}

// A barrier: the ranks go on together.
void Job::rank_is_done(Rank&) {
  Application& application = *applications_.back();
  if (++application.done < application.ranks.size()) return;
  application.done = 0;
  if (refused_) return reject();
  const auto interval = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(setup_.interval));
  loop_.after(interval, application.ranks.front()->process, [this, attempt = application.attempt] {
    if (applications_.back()->attempt == attempt && !applications_.back()->is_over) next_set();
  });
}

// The application cannot use what it restarted from, and ends when it has heard that it will not get it again.
void Job::reject() {
  const auto [set, stored_as] = *std::exchange(refused_, std::nullopt);
  rejects_ = false;
  truth_.refuses(set);
  Rank& rank = *applications_.back()->ranks.front();
  ask(rank, "refuse " + set, [this, &rank, set, stored_as](LinkId link) {
    wire::RejectT reject{.set = set, .stored_as = stored_as, .reason = "the application says so"};
    reject.timeout_ms = -1;
    net_.send(link, rank.process, std::move(reject));
  });
}

void Job::next_set() {
  Application& application = *applications_.back();
  if (application.position >= setup_.sets) return end_application(true, "it is done");
  ++application.position;
  for (const auto& rank : application.ranks) begin_set(*rank);
}

void Job::begin_set(Rank& rank) {
  const Application& application = *applications_.back();
  ask(rank, "begin " + set_name(application.position),
      [this, &rank, position = application.position, attempt = application.attempt](LinkId link) {
        wire::BeginT begin;
        begin.set = set_name(position);
        begin.step = position;
        begin.policy = std::make_unique<wire::SetPolicyT>();
        begin.policy->write = attempt * 1000 + static_cast<uint64_t>(position);
        net_.send(link, rank.process, std::move(begin));
      });
}

void Job::write(Rank& rank, const std::string& set) {
  const Application& application = *applications_.back();
  if (application.is_over) return;
  StagedSet& staged = rank.node->disk.sets[set];
  if (!staged.has_directory)
    return end_application(false, fmt::format("rank {} cannot write to {}: it is gone", rank.number, set));
  const uint64_t write = application.attempt * 1000 + static_cast<uint64_t>(application.position);
  Body body{.set = set, .rank = rank.number, .write = write};
  body.written_ns = 1'700'000'000'000'000'000 + nanoseconds();
  Marker marker{.rank = rank.number,
                .ranks = static_cast<uint32_t>(application.ranks.size()),
                .pid = rank.pid,
                .step = application.position,
                .files = {}};
  marker.files.push_back({.name = file_of(rank.number),
                          .size = size_of(body),
                          .mtime_s = body.written_ns / 1'000'000'000,
                          .mtime_ns = static_cast<uint32_t>(body.written_ns % 1'000'000'000)});
  staged.files[file_of(rank.number)] = std::move(body);
  staged.markers[rank.number] = std::move(marker);
  if (meter_ == nullptr) truth_.wrote(set, write, rank.number);
  if (rank.link != 0) net_.send(rank.link, rank.process, wire::CompletedT{.set = set});
  // An agent sees what happens in its stage, also where no rank is connected with it yet.
  if (Agent* const agent = rank.node->agent; agent != nullptr && rank.link == 0)
    loop_.after(100ms, agent->process(), [agent, set] { agent->see(set); });
  if (!setup_.waits) return rank_is_done(rank);
  ask(rank, "wait for " + set,
      [this, &rank, set](LinkId link) { net_.send(link, rank.process, wire::WaitT{.set = set}); });
}

void Job::end_application(bool good, const std::string& why) {
  Application& application = *applications_.back();
  if (std::exchange(application.is_over, true)) return;
  say(good ? "the application is done" : "the application ends: " + why);
  for (const auto& rank : application.ranks) kill(rank->process);
  refused_.reset();
  if (good) return drain();
  loop_.after(500ms, run_, [this] {
    look_after_nodes([this] {
      if (applications_.size() >= setup_.starts) {
        truth_.wrong("the application has used up all its starts");
        return over(1);
      }
      loop_.after(500ms, run_, [this] { launch(); });
    });
  });
}

// Spares take the places of nodes that have no agent for too long.
void Job::look_after_nodes(std::function<void()> then) {
  for (std::string& name : in_use_) {
    Node& one = *node(name);
    const bool has_agent = one.is_up && one.agent != nullptr && one.agent->process()->is_alive;
    if (has_agent && one.agent->has_coordinator() && !one.agent->process()->is_paused) continue;
    if (one.is_up || loop_.now - one.lost_at < kNodeTimeout)
      return loop_.after(200ms, run_, [this, then = std::move(then)] { look_after_nodes(then); });
    if (spares_.empty()) {
      say(fmt::format("node {} is lost, and no spare is left", name));
      return over(1);
    }
    one.is_excluded = true;
    say(fmt::format("node {} is lost: {} takes its place", name, spares_.front()));
    wire::MessageT request;
    wire::ExcludeT exclude;
    exclude.host = name;
    request.body.Set(std::move(exclude));
    name = spares_.front();
    spares_.erase(spares_.begin());
    start_daemons(*node(name));
    return control(request, false, [this, then = std::move(then)] { look_after_nodes(then); });
  }
  then();
}

// A question to whoever coordinates, again to the next one where that one is lost or silent.
void Job::control(const wire::MessageT& request, bool until_stop, std::function<void()> done) {
  struct Talk {
    wire::MessageT request;
    std::function<void()> done;
    LinkId link = 0;
    Time heard{};
    bool is_over = false;
  };
  auto talk = std::make_shared<Talk>(Talk{request, std::move(done)});
  const auto again = [this, talk, until_stop] {
    if (!std::exchange(talk->is_over, true)) control(talk->request, until_stop, talk->done);
  };
  const auto connected = [this, talk, again](LinkId link, uint64_t) {
    talk->link = link;
    talk->heard = loop_.now;
    net_.send(link, run_, talk->request);
    auto poll = std::make_shared<std::function<void()>>();
    *poll = [this, talk, again, poll] {
      if (talk->is_over) return;
      if (loop_.now - talk->heard > kControlSilence) {
        net_.close(talk->link, run_);
        return again();
      }
      net_.send(talk->link, run_, wire::StatusRequestT{});
      loop_.after(kAskAgain, run_, *poll);
    };
    loop_.after(kAskAgain, run_, *poll);
  };
  const auto heard = [this, talk, until_stop](const wire::MessageT& answer) {
    talk->heard = loop_.now;
    if (const auto* status = answer.body.AsStatus()) status_ = status->json;
    const bool is_last = until_stop ? answer.body.AsStop() != nullptr : answer.body.AsStatus() != nullptr;
    if (!is_last || std::exchange(talk->is_over, true)) return;
    net_.close(talk->link, run_);
    talk->done();
  };
  look_for_coordinator(run_, "run", 0, connected, [this, heard, again] {
    return Net::End{.process = run_, .node = "run", .received = heard, .closed = again};
  });
}

void Job::drain() {
  std::vector<std::string> lost;
  for (const std::string& name : in_use_) {
    Node& one = *node(name);
    if (!one.is_up && !std::exchange(one.is_excluded, true)) {
      wire::MessageT request;
      wire::ExcludeT exclude;
      exclude.host = name;
      request.body.Set(std::move(exclude));
      return control(request, false, [this] { drain(); });
    }
  }
  wire::MessageT request;
  request.body.Set(wire::StopRequestT{.drain = true, .settle = true});
  control(request, true, [this] {
    const auto status = nlohmann::json::parse(status_, nullptr, false);
    const auto lines = cli::not_stored(status);
    for (const std::string& line : lines) say(line);
    over(lines.empty() ? 0 : 11);
  });
}

void Job::over(int code) {
  is_over_ = true;
  exit_code_ = code;
  say(fmt::format("ends with {}", code));
  if (meter_ == nullptr) truth_.ended(code, nanoseconds(), views(), store_);
}

}  // namespace forebay::job::model
