#include "job/coordinator/coordinator.h"

#include <algorithm>

#include <fmt/format.h>

#include "job/coordinator/coordinator_impl.h"

namespace forebay::job {
namespace {

constexpr size_t kMaxErrors = 32;
constexpr std::chrono::milliseconds kTick{200};
// Longer between two ticks, and the process did not run: nobody could be heard.
constexpr std::chrono::milliseconds kSlept{1'500};

std::unexpected<Error> broken(std::string what) { return fail(ErrorKind::corrupt, std::move(what)); }

}  // namespace

std::optional<Backlog> parse_backlog(std::string_view name) {
  for (const Backlog backlog : {Backlog::newest, Backlog::skip, Backlog::block})
    if (name == to_string(backlog)) return backlog;
  return {};
}

const char* to_string(Backlog backlog) {
  switch (backlog) {
    case Backlog::newest:
      return "newest";
    case Backlog::skip:
      return "skip";
    case Backlog::block:
      return "block";
  }
  return "?";
}

void Coordinator::Impl::warn(std::string text) {
  errors.push_back(text);
  if (errors.size() > kMaxErrors) errors.pop_front();
  out.log.push_back({fabric::Severity::warning, std::move(text)});
}

void Coordinator::Impl::welcome(SessionId id) {
  wire::WelcomeT welcome;
  welcome.generation = generation;
  welcome.ping_ms = static_cast<uint32_t>(ping_interval().count());
  welcome.lost_ms = static_cast<uint32_t>(options.peer_timeout.count());
  welcome.block_at = options.backlog == Backlog::block ? options.backlog_sets : 0;
  send(id, std::move(welcome));
}

Result<void> Coordinator::Impl::greet(SessionId id, Session& session, std::unique_ptr<wire::AgentHelloT> hello) {
  if (session.role != Session::Role::none) return broken("a second hello");
  if (excluded.contains(hello->host)) {
    info(fmt::format("an agent of {} is not let in: the node is excluded", hello->host));
    send(id, wire::StopT{.message = fmt::format("node {} is excluded from the job", hello->host)});
    out.closed.push_back(id);
    leave(id, {});  // the session is gone
    return {};
  }
  session.role = Session::Role::agent;
  session.key = hello->node + '\n' + hello->stage;
  session.agent = std::move(hello);
  if (const auto before = agents.find(session.key); before != agents.end()) {
    const SessionId old = before->second;
    out.closed.push_back(old);
    leave(old, "another one has taken its place");
  }
  agents[session.key] = id;
  info(fmt::format("agent of {} is here: {}", session.agent->host, session.agent->stage));
  if (session.agent->tally) learn(*session.agent->tally);
  welcome(id);
  if (settling || settles_to_end) ask_to_settle(id);
  return {};
}

Result<void> Coordinator::Impl::greet(SessionId id, Session& session, std::unique_ptr<wire::WorkerHelloT> hello) {
  if (session.role != Session::Role::none) return broken("a second hello");
  session.role = Session::Role::worker;
  if (hello->profile != options.profile || hello->scheme != options.scheme)
    warn(fmt::format("the worker on {} packs with profile {} and scheme {}, and the coordinator says {} and {}",
                     hello->host, hello->profile, hello->scheme, options.profile, options.scheme));
  board.worker_joined(id, hello->node);
  session.worker = std::move(hello);
  info(fmt::format("worker on {} is here (process {})", session.worker->host, session.worker->pid));
  welcome(id);
  return {};
}

// The session is gone for everybody after this.
void Coordinator::Impl::leave(SessionId id, const std::string& why) {
  const auto found = sessions.find(id);
  if (found == sessions.end()) return;
  const Session session = std::move(found->second);
  sessions.erase(found);
  if (session.role == Session::Role::agent) {
    warn(fmt::format("agent of {} is lost: {}", session.agent->host, why));
    if (const auto entry = agents.find(session.key); entry != agents.end() && entry->second == id) agents.erase(entry);
    agent_left(session);
    publishing.erase(id);
    restart_left(id);
    if (settling) settling->waiting.erase(id);
    advance_settling();
  } else if (session.role == Session::Role::worker) {
    warn(fmt::format("worker on {} (process {}) is lost: {}", session.worker->host, session.worker->pid, why));
    if (const auto attempt = board.attempt_of(id)) containers.erase(attempt->id);
    if (const auto unit = board.worker_left(id)) unit_lost(*unit, "lost its worker");
  }
}

Result<void> Coordinator::Impl::dispatch(SessionId id, Session& session, wire::MessageT& message) {
  using wire::Body;
  const auto need = [&](Session::Role role) -> Result<void> {
    if (session.role != role) return broken("a message that this peer cannot send");
    return {};
  };
  const auto take = [&]<class Table>(Table* table) { return std::make_unique<Table>(std::move(*table)); };
  switch (message.body.type) {
    case Body::Ping:
      session.processes = message.body.AsPing()->processes;
      session.processor_ms = message.body.AsPing()->processor_ms;
      return {};
    case Body::AgentHello:
      return greet(id, session, take(message.body.AsAgentHello()));
    case Body::WorkerHello:
      return greet(id, session, take(message.body.AsWorkerHello()));
    case Body::Offer:
      FOREBAY_CHECK(need(Session::Role::agent));
      offer(id, session, std::move(*message.body.AsOffer()));
      return {};
    case Body::Withdrawn:
      FOREBAY_CHECK(need(Session::Role::agent));
      withdraw(session, *message.body.AsWithdrawn());
      return {};
    case Body::RestartRequest:
      FOREBAY_CHECK(need(Session::Role::agent));
      restart(id, *message.body.AsRestartRequest());
      return {};
    case Body::RestartPublished:
      FOREBAY_CHECK(need(Session::Role::agent));
      published(id, *message.body.AsRestartPublished());
      return {};
    case Body::TaskProgress: {
      FOREBAY_CHECK(need(Session::Role::worker));
      const auto& progress = *message.body.AsTaskProgress();
      board.progressed(id, progress.id, progress.raw_bytes, progress.stored_bytes, progress.steps, now);
      return {};
    }
    case Body::TaskDone:
      FOREBAY_CHECK(need(Session::Role::worker));
      ended(id, std::move(*message.body.AsTaskDone()));
      return {};
    case Body::StatusRequest:
      if (session.role == Session::Role::none) session.role = Session::Role::asker;
      send(id, wire::StatusT{.json = status()});
      return {};
    case Body::StopRequest:
      if (session.role == Session::Role::none) session.role = Session::Role::asker;
      ask_for_end(session, *message.body.AsStopRequest());
      return {};
    case Body::SettleRequest:
      if (session.role == Session::Role::none) session.role = Session::Role::asker;
      settle(id);
      return {};
    case Body::Settled:
      FOREBAY_CHECK(need(Session::Role::agent));
      settled(id, *message.body.AsSettled());
      return {};
    case Body::Exclude:
      FOREBAY_CHECK(need(Session::Role::none));
      session.role = Session::Role::asker;
      exclude(id, message.body.AsExclude()->host);
      return {};
    default:
      return broken("a message that a coordinator does not take");
  }
}

void Coordinator::Impl::ask_for_end(Session& session, const wire::StopRequestT& request) {
  session.waits_for_end = true;
  if (!request.drain) return end("the job was told to stop");
  if (!draining_to_end) info("the job ends when all that was offered is drained");
  draining_to_end = true;
  quiet_since = now;
  if (!request.settle) return;
  settles_to_end = true;
  settle(0);
}

void Coordinator::Impl::end(const std::string& message) {
  if (std::exchange(over, true)) return;
  info("end: " + message);
  for (const auto& [id, session] : sessions) send(id, wire::StopT{.message = message});
}

void Coordinator::Impl::check_end() {
  if (!sets.empty() || round || settling) quiet_since = now;
  if (!draining_to_end || now - quiet_since < options.quiet) return;
  const wire::TallyT all = tally();
  end(fmt::format("{} sets are durable, {} were skipped, {} were given up", all.durable, all.skipped, all.failed));
}

bool Coordinator::Impl::has_other_aggregators() const {
  return std::ranges::any_of(sessions, [&](const auto& one) {
    const auto& worker = one.second.worker;
    return worker && (worker->host != options.host || worker->pid != options.pid);
  });
}

// A store that hangs for this node may not do so for another one. What this coordinator has begun harms nobody when the
// store wakes up: a set is committed once (decision 0019, "Coordinators have generations").
void Coordinator::Impl::check_store() {
  if (answers_owed == 0 || now - owed_since < options.store_patience || !has_other_aggregators()) return;
  out.step_down = fmt::format("the store has not answered for {} s",
                              std::chrono::duration_cast<std::chrono::seconds>(now - owed_since).count());
}

void Coordinator::Impl::ping_all() {
  if (now < next_ping) return;
  next_ping = now + ping_interval();
  std::vector<SessionId> silent;
  for (const auto& [id, session] : sessions) {
    const bool waits = session.role == Session::Role::asker;
    if (!waits && now - session.last_heard > options.peer_timeout) silent.push_back(id);
    send(id, wire::PingT{});
  }
  for (const SessionId id : silent) {
    out.closed.push_back(id);
    leave(id, fmt::format("silent for {} s", static_cast<double>(options.peer_timeout.count()) / 1000));
  }
}

void Coordinator::Impl::tick() {
  if (const auto gap = now - last_tick; gap > kSlept) {
    for (auto& [id, session] : sessions) session.last_heard += gap;
    board.forgive(gap);
    owed_since += gap;
  }
  last_tick = now;
  ping_all();
  find_stalled();
  std::vector<uint64_t> ids;
  for (const auto& [id, set] : sets) ids.push_back(id);
  for (const uint64_t id : ids) tick_set(id);
  tick_restart();
  advance_settling();
  start_tasks();
  check_end();
  check_store();
}

Coordinator::Coordinator(const CoordinatorOptions& options, uint64_t generation, Time now)
    : impl_(std::make_unique<Impl>(options, generation, now)) {}

Coordinator::~Coordinator() = default;

void Coordinator::connected(SessionId session, std::string peer, Time now) {
  impl_->sessions[session] = {.peer = std::move(peer), .last_heard = now};
}

Result<void> Coordinator::received(SessionId session, wire::MessageT message, Time now) {
  const auto found = impl_->sessions.find(session);
  if (found == impl_->sessions.end() || impl_->over) return {};
  impl_->now = now;
  found->second.last_heard = now;
  const Result<void> result = impl_->dispatch(session, found->second, message);
  impl_->start_tasks();
  return result;
}

void Coordinator::disconnected(SessionId session, Time now) {
  impl_->now = now;
  if (impl_->over) {
    impl_->sessions.erase(session);
    return;
  }
  impl_->leave(session, "disconnected");
  impl_->start_tasks();
}

void Coordinator::answered(StoreAnswer answer, Time now) {
  if (impl_->over) return;
  impl_->now = impl_->owed_since = now;
  if (impl_->answers_owed > 0) --impl_->answers_owed;
  std::visit([this](auto& one) { impl_->answered(std::move(one)); }, answer);
  impl_->start_tasks();
}

void Coordinator::tick(Time now) {
  if (impl_->over) return;
  impl_->now = now;
  impl_->tick();
}

Coordinator::Time Coordinator::next_tick() const { return impl_->over ? Time::max() : impl_->last_tick + kTick; }

CoordinatorOutput Coordinator::take_output() {
  for (const StoreCommand& command : impl_->out.commands) {
    if (std::holds_alternative<Abandon>(command)) continue;
    if (impl_->answers_owed++ == 0) impl_->owed_since = impl_->now;
  }
  return std::exchange(impl_->out, {});
}

void Coordinator::count_received(wire::Body kind, size_t bytes) { impl_->received[kind].add(bytes); }

void Coordinator::count_sent(wire::Body kind, size_t bytes) { impl_->sent[kind].add(bytes); }

bool Coordinator::stopped() const { return impl_->over; }

}  // namespace forebay::job
