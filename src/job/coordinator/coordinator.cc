#include "job/coordinator/coordinator.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "job/coordinator/coordinator_impl.h"

namespace forebay::job {
namespace {

constexpr size_t kMaxErrors = 32;
constexpr std::chrono::milliseconds kTick{200};
// Longer between two ticks, and the process did not run: nobody could be heard.
constexpr std::chrono::milliseconds kSlept{1'500};

bool has_orders(const SetRow& row) { return row.encoding && row.encoding->has_messages(); }

std::unexpected<Error> broken(std::string what) { return fail(ErrorKind::corrupt, std::move(what)); }

}  // namespace

void Coordinator::Impl::warn(std::string text) {
  errors.push_back(text);
  if (errors.size() > kMaxErrors) errors.pop_front();
  out.log.push_back({fabric::Severity::warning, std::move(text)});
}

void Coordinator::Impl::take(LogLines log) {
  for (LogLine& line : log.lines) {
    if (line.severity == fabric::Severity::warning)
      warn(std::move(line.text));
    else
      out.log.push_back(std::move(line));
  }
}

void Coordinator::Impl::take(std::vector<StoreCommand> commands) {
  for (StoreCommand& command : commands) {
    // What is listed now may be gone before it is brought.
    const bool waits = is_pruning && std::holds_alternative<ListSets>(command);
    (waits ? after_prune : out.commands).push_back(std::move(command));
  }
}

void Coordinator::Impl::welcome(SessionId id) {
  wire::WelcomeT welcome;
  welcome.generation = generation;
  welcome.ping_ms = static_cast<uint32_t>(ping_interval().count());
  welcome.lost_ms = static_cast<uint32_t>(options.peer_timeout.count());
  welcome.block_at = options.backlog == Backlog::block ? options.backlog_sets : 0;
  send(id, std::move(welcome));
}

Result<void> Coordinator::Impl::greet(SessionId id, std::unique_ptr<wire::AgentHelloT> hello) {
  const std::string host = hello->host;
  FOREBAY_TRY(const Roster::Welcome admitted, roster.greet(id, std::move(hello)));
  if (admitted.is_excluded) {
    info(fmt::format("an agent of {} is not let in: the node is excluded", host));
    send(id, wire::StopT{.message = fmt::format("node {} is excluded from the job", host)});
    out.closed.push_back(id);
    leave(id, {});
    return {};
  }
  if (admitted.replaced != 0) {
    out.closed.push_back(admitted.replaced);
    leave(admitted.replaced, "another one has taken its place");
  }
  const Session& session = *roster.find(id);
  info(fmt::format("agent of {} is here: {}", host, session.agent->stage));
  welcome(id);
  cache_agent_joined(id, session);
  apply(settling.joined({id, session.key, host}, now));
  return {};
}

Result<void> Coordinator::Impl::greet(SessionId id, std::unique_ptr<wire::WorkerHelloT> hello) {
  FOREBAY_CHECK(roster.greet(id, std::move(hello)));
  const wire::WorkerHelloT& worker = *roster.find(id)->worker;
  if (worker.profile != options.profile || worker.scheme != options.scheme)
    warn(fmt::format("the worker on {} packs with profile {} and scheme {}, and the coordinator says {} and {}",
                     worker.host, worker.profile, worker.scheme, options.profile, options.scheme));
  board.worker_joined(id, worker.node, worker.streams);
  info(fmt::format("worker on {} is here (process {})", worker.host, worker.pid));
  welcome(id);
  return {};
}

// The session is gone for everybody after this.
void Coordinator::Impl::leave(SessionId id, const std::string& why) {
  const auto session = roster.left(id);
  if (!session) return;
  if (session->role == Session::Role::agent) {
    warn(fmt::format("agent of {} is lost: {}", session->agent->host, why));
    caches.left(session->key);
    apply(with_stages_observed().left(id, now));  // first: a restart waits for it, and passes over nothing without it
    agent_left(id, *session);
    cache_agent_left(id, *session);
    apply(settling.left(id, now));
  } else if (session->role == Session::Role::worker) {
    warn(fmt::format("worker on {} (process {}) is lost: {}", session->worker->host, session->worker->pid, why));
    for (const UnitId unit : board.worker_left(id)) unit_lost(unit, "lost its worker");
  }
}

// A node that the job goes on without: who has started its agent takes it for lost.
//   1. Its agent is told to stop, and let in no more: were it to come back with the parts of sets that the application
//      writes again on other nodes, those of two attempts would be mixed.
//   2. What of a set that is drained lies there alone will not be had: the set is given up.
//   3. Nor will a set that is not complete be: it is given up, too, lest what other nodes have of it is taken for a
//   part
//      of what the application writes anew.
void Coordinator::Impl::exclude(SessionId asker, const std::string& host) {
  if (const auto theirs = roster.exclude(host)) {
    decide(decided::Excluded{host});
    info(fmt::format("node {} is excluded from the job", host));
    for (const SessionId id : *theirs) {
      settling.excluded(roster.find(id)->key);
      send(id, wire::StopT{.message = fmt::format("node {} is excluded from the job", host)});
      out.closed.push_back(id);
      leave(id, "its node is excluded");
    }
    sets.for_each([&](const SetRow& row) { return row.drain.needs_lost(host); },
                  [&](const SetRow& row) {
                    give_up(row.drain.id(),
                            fmt::format("node {} is excluded, and has what is not drained of it", host));
                  });
    give_up_incomplete(true);
  }
  send(asker, wire::StatusT{.json = status()});
}

Result<void> Coordinator::Impl::dispatch(SessionId id, Session& session, wire::MessageT& message) {
  using wire::Body;
  const auto need = [&](Session::Role role) -> Result<void> {
    if (session.role != role) return broken("a message that this peer cannot send");
    return {};
  };
  const auto take_out = [&]<class Table>(Table* table) { return std::make_unique<Table>(std::move(*table)); };
  switch (message.body.type) {
    case Body::Ping:
      session.ranks = message.body.AsPing()->ranks;
      session.processes = message.body.AsPing()->processes;
      session.processor_ms = message.body.AsPing()->processor_ms;
      session.begun = std::move(message.body.AsPing()->begun);
      return {};
    case Body::AgentHello:
      return greet(id, take_out(message.body.AsAgentHello()));
    case Body::WorkerHello:
      return greet(id, take_out(message.body.AsWorkerHello()));
    case Body::Offer:
      FOREBAY_CHECK(need(Session::Role::agent));
      offer(id, session, std::move(*message.body.AsOffer()));
      return {};
    case Body::Withdrawn:
      FOREBAY_CHECK(need(Session::Role::agent));
      withdraw(id, session, *message.body.AsWithdrawn());
      return {};
    case Body::RestartRequest:
      FOREBAY_CHECK(need(Session::Role::agent));
      restart(id, session, *message.body.AsRestartRequest());
      return {};
    case Body::RestartPublished:
      FOREBAY_CHECK(need(Session::Role::agent));
      apply(with_stages_observed().published(id, *message.body.AsRestartPublished(), now));
      return {};
    case Body::TaskProgress: {
      FOREBAY_CHECK(need(Session::Role::worker));
      const auto& progress = *message.body.AsTaskProgress();
      board.progressed(id, progress.id, progress.raw_bytes, progress.stored_bytes, progress.steps, now);
      return {};
    }
    case Body::WorkerStreams:
      FOREBAY_CHECK(need(Session::Role::worker));
      board.set_streams(id, message.body.AsWorkerStreams()->streams);
      return {};
    case Body::TaskDone:
      FOREBAY_CHECK(need(Session::Role::worker));
      ended(id, *message.body.AsTaskDone());
      return {};
    case Body::Settled:
      FOREBAY_CHECK(need(Session::Role::agent));
      apply(settling.answered(id, *message.body.AsSettled(), now));
      return {};
    default:
      if (session.role == Session::Role::agent && dispatch_cached(id, session, message)) return {};
      return dispatch_question(id, session, message);
  }
}

// What only agents say of caches.
bool Coordinator::Impl::dispatch_cached(SessionId id, const Session& session, wire::MessageT& message) {
  using wire::Body;
  switch (message.body.type) {
    case Body::Protected:
      was_protected(id, *message.body.AsProtected());
      return true;
    case Body::Sealed:
      was_sealed(id, session, *message.body.AsSealed());
      return true;
    case Body::CachedChecked:
      apply(recovery.checked(session.key, *message.body.AsCachedChecked(), now));
      return true;
    case Body::Repaired:
      apply(recovery.repaired(session.key, *message.body.AsRepaired(), now));
      return true;
    case Body::Reject:
      reject(id, session, *message.body.AsReject());
      return true;
    default:
      return false;
  }
}

// From anybody.
Result<void> Coordinator::Impl::dispatch_question(SessionId id, const Session& session, wire::MessageT& message) {
  using wire::Body;
  switch (message.body.type) {
    case Body::StatusRequest:
      roster.asks(id);
      send_at_once(id, wire::StatusT{.json = status(logged_exclusions)});
      return {};
    case Body::StopRequest:
      roster.asks(id);
      ask_for_end(*message.body.AsStopRequest());
      return {};
    case Body::SettleRequest:
      roster.asks(id);
      apply(settling.begin(id, now));
      return {};
    case Body::Exclude:
      if (session.role != Session::Role::none) return broken("a message that this peer cannot send");
      roster.asks(id);
      exclude(id, message.body.AsExclude()->host);
      return {};
    case Body::Reject:
      if (session.role != Session::Role::none) return broken("a message that this peer cannot send");
      roster.asks(id);
      reject_everywhere(*message.body.AsReject());
      send(id, wire::StatusT{.json = status()});
      return {};
    default:
      return broken("a message that a coordinator does not take");
  }
}

void Coordinator::Impl::ask_for_end(const wire::StopRequestT& request) {
  if (!request.drain) return end("the job was told to stop");
  if (!draining_to_end) info("the job ends when all that was offered is drained");
  draining_to_end = true;
  quiet_since = now;
  if (request.settle) apply(settling.begin_for_good(now));
}

void Coordinator::Impl::end(const std::string& message) {
  if (std::exchange(over, true)) return;
  info("end: " + message);
  while (!announcements.empty()) announce();
  outbox.open();
  for (const auto& [id, session] : roster.sessions()) {
    // Who waits for the end goes by the last status, and may have asked before the last thing happened.
    if (session.role == Session::Role::asker) send(id, wire::StatusT{.json = status()});
    send(id, wire::StopT{.message = message});
  }
}

void Coordinator::Impl::check_end() {
  if (draining_to_end && outbox.waits() && now - outbox.since() >= options.stall_timeout) outbox.open();
  if (outbox.waits() || !sets.empty() || !announcements.empty() || restarts.is_open() || settling.is_open() ||
      is_caching() || is_pruning)
    quiet_since = now;
  if (!draining_to_end || now - quiet_since < options.quiet || !close_caches() || !is_newest_closed()) return;
  if (!out.decisions.empty()) return;  // what this has found out is logged before anybody hears of it
  const decided::Counts& all = facts.sums.counts;
  const std::string cached = all.cached == 0 ? "" : fmt::format(", {} were in the caches", all.cached);
  end(fmt::format("{} sets are durable, {} were skipped, {} failed{}", all.durable, all.skipped, all.failed, cached));
}

// A store that hangs for this node may not do so for another one. What this coordinator has begun harms nobody when the
// store wakes up: a set is committed once (decision 0019, "Coordinators have generations").
void Coordinator::Impl::check_store() {
  if (!after_prune.empty() && now - pruning_since >= options.store_patience())
    std::ranges::move(std::exchange(after_prune, {}), std::back_inserter(out.commands));
  if (answers_owed == 0 || now - owed_since < options.store_patience() ||
      !roster.has_other_workers(options.host, options.pid))
    return;
  out.step_down = fmt::format("the store has not answered for {} s",
                              std::chrono::duration_cast<std::chrono::seconds>(now - owed_since).count());
}

// Likewise. Who goes on without a log promises what the next one does not know.
void Coordinator::Impl::check_log() {
  if (!outbox.waits() || now - outbox.since() < options.store_patience() ||
      !roster.has_other_workers(options.host, options.pid))
    return;
  out.step_down = fmt::format("its decisions cannot be logged: {}",
                              log_error.empty() ? "the directory of the job does not answer" : log_error);
}

// Whatever the reason: an application whose checkpoints count for nothing is to be known as such while it runs.
void Coordinator::Impl::check_cadence() {
  if (roster.connected_ranks() == 0 || restarts.is_open() || draining_to_end) cadence.rests(now);
  const auto late = cadence.late(now, 2 * options.peer_timeout);
  const bool is_news = no_set.empty();
  no_set.clear();
  if (!late) return;
  no_set = fmt::format("no set became complete for {:.0f} s, and before that one did every {:.1f} s: {}", late->seconds,
                       late->interval, what_keeps_sets());
  if (is_news) warn(no_set);
}

std::string Coordinator::Impl::what_keeps_sets() const {
  const SetDrain* newest = nullptr;
  for (const auto& [id, row] : sets)
    if (row.drain.phase() == SetPhase::incomplete) newest = &row.drain;
  if (newest != nullptr) return fmt::format("of set {} {}", newest->name(), newest->what_is_missing(roster.hosts()));
  if (const SetDrain* const drained = drained_set()) return fmt::format("set {} is being stored", drained->name());
  return "no node has all that its ranks write of one";
}

void Coordinator::Impl::ping_all() {
  if (now < next_ping) return;
  next_ping = now + ping_interval();
  const auto silent = roster.silent(now, options.peer_timeout);
  wire::PingT ping;
  ping.ranks = roster.connected_ranks();
  for (const auto& [id, session] : roster.sessions()) send_at_once(id, ping);
  for (const SessionId id : silent) {
    out.closed.push_back(id);
    leave(id, fmt::format("silent for {} s", static_cast<double>(options.peer_timeout.count()) / 1000));
  }
}

void Coordinator::Impl::forgive_orders(std::chrono::nanoseconds gap) {
  board.forgive(gap);
  recovery.forgive(gap);
  restarts.forgive(gap);
  settling.forgive(gap);
  for (auto& [set, one] : awaited) one.forgive(gap);
  sets.for_each([](const SetRow& row) { return row.encoding.has_value(); },
                [&](SetRow& row) { row.encoding->forgive(gap); });
}

void Coordinator::Impl::tick() {
  if (const auto gap = now - last_tick; gap > kSlept) {
    roster.forgive(gap);
    owed_since += gap;
    outbox.forgive(gap);
    forgive_orders(gap);
  } else if (outbox.waits() && outbox.since() <= last_tick) {
    forgive_orders(gap);  // they are held back, and nobody has heard of them
  }
  last_tick = now;
  ping_all();
  find_stalled();
  sets.for_each([](const SetRow&) { return true; },
                [&](SetRow& row) { apply(row.drain.id(), row.drain.tick(now, roster.hosts())); });
  tick_caches();
  apply(with_stages_observed().tick(now));
  apply(settling.tick(now));
  start_tasks();
  check_cadence();
  check_end();
  check_store();
  check_log();
}

bool Coordinator::Impl::has_slices() const {
  const SetDrain* const set = drained_set();
  return has_more_tasks || sets.first(has_orders) != nullptr || !announcements.empty() || !spent.empty() ||
         (set != nullptr && set->phase() == SetPhase::cutting);
}

void Coordinator::Impl::do_slice() {
  constexpr size_t kFiles = 32768;     // some milliseconds
  constexpr size_t kMostOrders = 128;  // each has the ranks of its whole group
  const SetDrain* const set = drained_set();
  if (set != nullptr && set->phase() == SetPhase::cutting)
    apply(set->id(), sets.at(set->id()).drain.cut(now));
  else if (SetRow* const row = sets.first(has_orders))
    send_orders(*row->encoding, kMostOrders);
  else if (!announcements.empty())
    announce();
  else
    spent.destroy(kFiles);
  start_tasks();
}

Coordinator::Coordinator(const CoordinatorOptions& options, uint64_t generation, Time now, Facts facts)
    : impl_(std::make_unique<Impl>(options, generation, now, std::move(facts))) {}

Coordinator::~Coordinator() = default;

void Coordinator::connected(SessionId session, std::string peer, Time now) {
  impl_->roster.connected(session, std::move(peer), now);
}

Result<void> Coordinator::received(SessionId session, wire::MessageT message, Time now) {
  Session* const from = impl_->roster.heard(session, now);
  if (from == nullptr || impl_->over) return {};
  impl_->now = now;
  const Result<void> result = impl_->dispatch(session, *from, message);
  impl_->start_tasks();
  return result;
}

void Coordinator::disconnected(SessionId session, Time now) {
  impl_->now = now;
  if (impl_->over) {
    impl_->roster.left(session);
    return;
  }
  impl_->leave(session, "disconnected");
  impl_->start_tasks();
}

void Coordinator::answered(StoreAnswer answer, Time now) {
  if (impl_->over) return;
  impl_->now = now;
  if (!std::holds_alternative<WasPruned>(answer)) impl_->store_answered();
  std::visit([this](auto& one) { impl_->answered(std::move(one)); }, answer);
  impl_->start_tasks();
}

void Coordinator::logged(uint64_t decisions, Time now) {
  if (!impl_->over) impl_->now = now;
  impl_->outbox.logged(decisions, now);
  if (!impl_->outbox.waits()) impl_->logged_exclusions = impl_->facts.excluded;
  if (!impl_->log_error.empty()) impl_->info("decisions are logged again");
  impl_->log_error.clear();
}

void Coordinator::log_failed(const Error& error, Time now) {
  impl_->now = now;
  const std::string why = error.message();
  if (why == impl_->log_error) return;
  impl_->warn(fmt::format("a decision cannot be logged, and what follows from it waits; it is tried again: {}", why));
  impl_->log_error = why;
}

void Coordinator::tick(Time now) {
  if (impl_->over) return;
  impl_->now = now;
  const bool has_slices = impl_->has_slices();
  if (has_slices) impl_->do_slice();
  if (!has_slices || now >= impl_->last_tick + kTick) impl_->tick();
}

Coordinator::Time Coordinator::next_tick() const {
  if (impl_->over) return Time::max();
  return impl_->has_slices() ? impl_->now : impl_->last_tick + kTick;
}

CoordinatorOutput Coordinator::take_output() {
  for (const StoreCommand& command : impl_->out.commands) {
    if (std::holds_alternative<Abandon>(command) || std::holds_alternative<Prune>(command)) continue;
    if (impl_->answers_owed++ == 0) impl_->owed_since = impl_->now;
  }
  return impl_->outbox.pass(std::exchange(impl_->out, {}), impl_->now);
}

void Coordinator::count_received(wire::Body kind, size_t bytes) { impl_->received[kind].add(bytes); }

void Coordinator::count_sent(wire::Body kind, size_t bytes) { impl_->sent[kind].add(bytes); }

bool Coordinator::stopped() const { return impl_->over; }

bool Coordinator::is_left_alone() const {
  const CoordinatorOptions& options = impl_->options;
  return impl_->roster.agents().empty() && !impl_->roster.has_other_workers(options.host, options.pid);
}

bool Coordinator::is_needed() const {
  return !impl_->roster.agents().empty() || !impl_->sets.empty() || impl_->draining_to_end;
}

}  // namespace forebay::job
