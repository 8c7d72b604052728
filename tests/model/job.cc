#include "job.h"

#include <algorithm>

#include <fmt/format.h>

namespace forebay::job::model {
namespace {

constexpr auto kRevival = 300ms;
constexpr auto kWorkerPing = 2s;
constexpr auto kWorkerSilence = 5s;
constexpr auto kAwaited = 60s;
constexpr auto kLongest = 900s;

Duration in_seconds(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

std::unexpected<Error> no_command(const Command& command, const std::string& why) {
  return fail(ErrorKind::invalid_argument, fmt::format("'{}': {}", to_text(command), why));
}

}  // namespace

Job::Job(const Setup& setup, bool traces)
    : setup_(setup),
      trace_(traces),
      net_(loop_, setup.seed,
           [this](const std::string& from, const std::string& to, const wire::MessageT& message) {
             sent(from, to, message);
           }),
      truth_(setup.nodes * setup.ranks) {
  run_->name = "run";
  for (uint32_t i = 0; i < setup.nodes + setup.spares; ++i) {
    auto& node = nodes_.emplace_back(std::make_unique<Node>());
    node->name = fmt::format("n{}", i);
    node->trouble = loop_.now;
    (i < setup.nodes ? in_use_ : spares_).push_back(node->name);
  }
  for (uint32_t i = 0; i < setup.nodes; ++i) start_daemons(*nodes_[i]);
  loop_.after(1s, run_, [this] { launch(); });
}

Job::~Job() = default;

int64_t Job::nanoseconds() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(loop_.now.time_since_epoch()).count();
}

Job::Node* Job::node(const std::string& name) {
  for (const auto& one : nodes_)
    if (one->name == name) return one.get();
  return nullptr;
}

void Job::sent(const std::string& from, const std::string& to, const wire::MessageT& message) {
  const bool is_awaited = awaited_ && awaited_->words.front() == wire::EnumNameBody(message.body.type);
  if (!is_awaited && (!trace_.is_on() || is_small_talk(message))) return;
  const std::string text = to_text(message);
  trace_.sent(from, to, text);
  if (is_awaited && std::ranges::all_of(awaited_->words,
                                        [&](const std::string& word) { return text.find(word) != std::string::npos; }))
    awaited_.reset();
}

std::vector<NodeView> Job::views() const {
  std::vector<NodeView> all = ghost_views_;
  for (const auto& one : nodes_) {
    if (!one->is_up || one->is_excluded) continue;
    const bool is_steady =
        one->agent != nullptr && one->agent->process()->is_alive && !one->agent->process()->is_paused;
    const int64_t since = is_steady ? std::chrono::nanoseconds(one->trouble.time_since_epoch()).count() : INT64_MAX;
    all.push_back({.name = one->name, .disk = &one->disk, .steady_since = since});
  }
  return all;
}

void Job::heard(const Agent& agent, const std::string& set, const std::string& stored_as) {
  if (meter_ != nullptr) return;
  const auto* entry = agent.sets().find(set);
  const bool is_safe = entry->state == wire::SetState::cached || entry->state == wire::SetState::durable;
  if (!is_safe || entry->restored_ns != 0) return;
  truth_.promised(set, entry->write, entry->state == wire::SetState::durable ? stored_as : std::string(),
                  agent.protects(set), views(), store_, nanoseconds());
}

void Job::removing() {
  if (meter_ == nullptr) truth_.removing(views(), store_);
}

void Job::removed(const Agent& agent, const std::string& set, bool is_refused) {
  if (!is_refused && meter_ == nullptr) truth_.removed(agent.node(), set, views(), store_);
}

void Job::say(const Agent& agent, const std::string& text) { trace_.add(agent.node(), text); }

Agent* Job::agent_at(const std::string& address) {
  for (const auto& one : nodes_)
    if (one->agent != nullptr && one->is_up && one->agent->address() == address)
      return one->agent->process()->is_alive && !one->agent->process()->is_paused ? one->agent : nullptr;
  return nullptr;
}

void Job::find_coordinator(Agent& agent) {
  look_for_coordinator(
      agent.process(), agent.node(), 0, [&agent](LinkId link, uint64_t generation) { agent.adopt(link, generation); },
      [&agent] {
        return Net::End{.process = agent.process(),
                        .node = agent.node(),
                        .received = [&agent](wire::MessageT message) { agent.hear_coordinator(std::move(message)); },
                        .closed = [&agent] { agent.lose_coordinator(); }};
      });
}

void Job::start_daemons(Node& node) {
  start_agent(node);
  start_aggregator(node);
}

void Job::start_agent(Node& node) {
  if (!node.is_up || node.is_excluded || is_over_) return;
  agents_.push_back(std::make_unique<Agent>(*this, node.name, node.disk, setup_.keep, ++agent_numbers_));
  node.agent = agents_.back().get();
  node.trouble = loop_.now;
  node.agent->begin();
}

void Job::start_aggregator(Node& node) {
  if (!node.is_up || node.is_excluded || is_over_) return;
  auto& one = *aggregators_.emplace_back(std::make_unique<Aggregator>());
  one.process = std::make_shared<Process>();
  one.process->name = "w" + node.name.substr(1);
  one.node = node.name;
  node.aggregator = &one;
  find_coordinator(one);
  auto keep = std::make_shared<std::function<void()>>();
  *keep = [this, &one, keep] {
    if (one.link != 0 && loop_.now - one.heard > kWorkerSilence) {
      net_.close(std::exchange(one.link, 0), one.process);
      one.tasks.clear();
      find_coordinator(one);
    } else if (one.link != 0) {
      net_.send(one.link, one.process, wire::PingT{});
    }
    loop_.after(kWorkerPing, one.process, *keep);
  };
  loop_.after(kWorkerPing, one.process, *keep);
}

void Job::kill(const ProcessRef& process) {
  process->is_alive = false;
  net_.crashed(process);
}

// Without a word: nobody hears why it says nothing any more.
void Job::lose(Node& node) {
  if (!node.is_up) return;
  ghosts_.push_back(std::make_unique<Disk>(std::move(node.disk)));
  ghost_views_.push_back({.name = node.name, .disk = ghosts_.back().get(), .is_up = false, .lost_at = nanoseconds()});
  net_.cut(node.name);
  node.disk = Disk();
  node.is_up = false;
  node.lost_at = node.trouble = loop_.now;
  if (node.agent != nullptr) node.agent->process()->is_alive = false;
  if (node.aggregator != nullptr) node.aggregator->process->is_alive = node.aggregator->leads->is_alive = false;
  if (applications_.empty() || applications_.back()->is_over) return;
  bool has_ranks = false;
  for (const auto& rank : applications_.back()->ranks)
    if (rank->node == &node) {
      rank->process->is_alive = false;
      has_ranks = true;
    }
  if (has_ranks)
    loop_.after(1s, nullptr, [this, attempt = applications_.back()->attempt] {
      if (applications_.back()->attempt == attempt) end_application(false, "a rank is lost");
    });
}

void Job::pause(const ProcessRef& process, Duration time) {
  loop_.pause(process);
  loop_.after(time, nullptr, [this, process] {
    if (process->is_alive) loop_.resume(process);
  });
}

std::optional<std::string> Job::newest_sealed(const Node& node) const {
  const HeldPart* newest = nullptr;
  for (const auto& [key, held] : node.disk.held)
    if (held.is_sealed && (newest == nullptr || held.write > newest->write)) newest = &held;
  return newest == nullptr ? std::nullopt : std::optional(newest->set);
}

Result<void> Job::do_to_node(const Command& command) {
  if (command.words.empty()) return no_command(command, "of which node?");
  Node* const one = node(command.words.front());
  if (one == nullptr) return no_command(command, "there is no such node");
  const bool has_agent = one->agent != nullptr && one->is_up && one->agent->process()->is_alive;
  one->trouble = loop_.now;
  if (command.verb == "lose") {
    lose(*one);
  } else if (command.verb == "return") {
    if (one->is_up || one->is_excluded) return {};
    one->is_up = true;
    if (std::ranges::find(in_use_, one->name) != in_use_.end()) start_daemons(*one);
  } else if (command.verb == "crash" && has_agent) {
    kill(one->agent->process());
    loop_.after(kRevival, run_, [this, one, agent = one->agent] {
      if (one->agent == agent) start_agent(*one);
    });
  } else if (command.verb == "pause" && has_agent) {
    pause(one->agent->process(), in_seconds(command.seconds()));
    loop_.after(in_seconds(command.seconds()), nullptr, [this, one] { one->trouble = loop_.now; });
  } else if (command.verb == "fill") {
    one->disk.is_full = true;
  } else if (command.verb == "room") {
    one->disk.is_full = false;
  } else if (command.verb == "damage" || command.verb == "vanish") {
    const auto set = newest_sealed(*one);
    if (!set || !has_agent) return {};
    StagedSet& staged = one->disk.sets[*set];
    if (staged.files.empty()) return {};
    trace_.add(one->name, fmt::format("a file of {} {}", *set, command.verb == "damage" ? "rots" : "vanishes"));
    if (command.verb == "damage") {
      staged.files.begin()->second.damaged_ns = nanoseconds();
    } else {
      ghosts_.push_back(std::make_unique<Disk>(one->disk));
      ghost_views_.push_back(
          {.name = one->name, .disk = ghosts_.back().get(), .is_up = false, .lost_at = nanoseconds()});
      ++one->vanished;
      staged.files.erase(staged.files.begin());
      one->agent->see(*set);
    }
  }
  return {};
}

// Until a message is sent, or for a minute.
Result<void> Job::until(const Command& command) {
  if (command.words.empty()) return no_command(command, "until what?");
  if (command.words.front() == "end") {
    finish();
    return {};
  }
  awaited_ = command;
  const Time patience = loop_.now + kAwaited;
  while (awaited_ && !is_over_ && truth_.fault().empty() && loop_.step(patience)) {
  }
  awaited_.reset();
  return {};
}

Result<void> Job::apply(const Command& command) {
  if (!truth_.fault().empty()) return {};
  const std::string& verb = command.verb;
  if (verb == "run") {
    const Time end = loop_.now + in_seconds(command.seconds());
    while (!is_over_ && truth_.fault().empty() && loop_.step(end)) {
    }
  } else if (verb == "until") {
    return until(command);
  } else if (verb == "kill" || verb == "stop") {
    Aggregator* const one = leader();
    if (one == nullptr) return {};
    if (verb == "stop") {
      pause(one->process, in_seconds(command.seconds()));
      pause(one->leads, in_seconds(command.seconds()));
      return {};
    }
    kill(one->process);
    kill(one->leads);
    loop_.after(kRevival, run_, [this, where = node(one->node), one] {
      if (where->aggregator == one) start_aggregator(*where);
    });
  } else if (verb == "die") {
    if (!applications_.empty()) end_application(false, "it is killed");
  } else if (verb == "place") {
    placement_ = command.words.empty() ? "home" : command.words.front();
  } else if (verb == "reject") {
    rejects_ = true;
  } else if (verb == "store") {
    const std::string mood = command.words.empty() ? "well" : command.words.front();
    store_.mood = mood == "down" ? Store::Mood::down : mood == "full" ? Store::Mood::full : Store::Mood::well;
  } else if (verb == "lose" || verb == "return" || verb == "crash" || verb == "pause" || verb == "fill" ||
             verb == "room" || verb == "damage" || verb == "vanish") {
    return do_to_node(command);
  } else {
    return no_command(command, "there is no such command");
  }
  return {};
}

// A store that never answers keeps every job from its end.
void Job::finish() {
  if (store_.mood == Store::Mood::down) store_.mood = Store::Mood::well;
  const Time end = loop_.now + kLongest;
  while (!is_over_ && truth_.fault().empty() && loop_.step(end)) {
  }
  const auto is_there = [&](const std::string& name) { return node(name)->is_up; };
  if (is_over_ || !truth_.fault().empty() || std::ranges::none_of(in_use_, is_there)) return;
  std::string who;
  if (!applications_.empty() && !applications_.back()->is_over)
    for (const auto& rank : applications_.back()->ranks)
      if (!rank->waits_for.empty() && rank->process->is_alive)
        who += fmt::format("{}rank {} waits: {}", who.empty() ? "" : "; ", rank->number, rank->waits_for);
  truth_.wrong(who.empty() ? "the job does not end" : "for ever, " + who);
}

}  // namespace forebay::job::model
