// What the caches hold (decision 0037): offers of it, recoveries, sets that are refused, and the end.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "job/coordinator/coordinator_impl.h"

namespace forebay::job {
namespace {

constexpr uint32_t kMostClosings = 3;  // of the set that is stored at the end

bool is_cached(const wire::OfferT& offered) {
  return offered.state == wire::SetState::cached || offered.state == wire::SetState::durable;
}

CachedPart cached_part(const Part& part, const wire::OfferT& offered) {
  constexpr int64_t kSecond = 1'000'000'000, kMostSeconds = INT64_MAX / kSecond - 1;
  CachedPart cached{
      .session = part.session,
      .host = part.host,
      .node = part.node,
      .addresses = part.addresses,
      .stage = part.stage,
      .exposure = part.exposure,
      .write = part.write,
      .total = part.ranks,
      .ranks = part.covered,
      .written_ns = std::clamp(part.written.first, -kMostSeconds, kMostSeconds) * kSecond + part.written.second,
      .ordinal = part.ordinal,
      .bytes = part.bytes,
      .state = offered.state,
      .stored_as = offered.stored_as,
      .level = part.level};
  if (offered.step) cached.step = *offered.step;
  if (offered.policy) cached.flush = offered.policy->flush;
  return cached;
}

}  // namespace

// Whether that is all that there is to do with the offer.
bool Coordinator::Impl::take_cached(SessionId id, const Session& session, const wire::OfferT& offered,
                                    const Part& part) {
  if (!is_cached(offered) && offered.encodings.empty()) return false;
  CachedPart cached = cached_part(part, offered);
  caches.offered(session.key, offered.set, std::move(cached), offered.encodings);
  if (const auto one = awaited.find(offered.set); one != awaited.end())
    one->second.answered({.kind = OrderKind::offer, .from = id});
  reject_again(id, session, offered.set);
  const CachedPart& known = *caches.part(session.key, offered.set);
  if (const auto* refused = caches.quarantined(offered.set, known)) {
    send(id, wire::QuarantineT{
                 .set = offered.set, .id = refused->encoding, .reason = refused->reason, .removes = refused->removes});
    // The agent that was asked to refuse it may not have known that the store has it, too.
    if (!refused->removes && facts.is_refused({refused->set, {}, refused->write, refused->encoding, false}))
      reject_stored(offered.stored_as, refused->reason, ", says " + session.agent->host);
    return true;
  }
  note_newest(offered);
  bool is_over = is_cached(offered);
  const SetRow* const row = sets.find(offered.set);
  if (row == nullptr)
    for (const HeldPosition& held : known.held) {
      if (!held.is_encoded || !facts.is_sealed(held.id)) continue;
      if (!held.is_sealed) send(id, wire::SealT{.id = held.id, .set = offered.set});
      if (is_cached(offered)) continue;
      wire::SetNewsT sealed = news(offered.set, {wire::SetState::cached, {}, {}});
      sealed.exposure = part.exposure;
      send(id, std::move(sealed));
      is_over = true;
    }
  if (row != nullptr && row->flush && is_over) {
    const CachedSet& set = *row->flush;
    const bool is_holder =
        std::ranges::any_of(known.held, [&](const HeldPosition& held) { return held.id == set.encoding; });
    if (part.write == set.write && (set.encoding == 0 || is_holder)) is_over = false;
  }
  apply(recovery.changed(now));
  if (is_over) leave_what_others_know(offered.set, part.write);
  return is_over;
}

bool Coordinator::Impl::leave_to_caches(const SetRow& row, bool nobody_writes) {
  const SetDrain& set = row.drain;
  const auto& offered = set.parts();
  if (set.phase() != SetPhase::incomplete || offered.empty() || set.is_complete() || row.flush) return false;
  const uint64_t write = offered.begin()->second.write;
  auto sealed = caches.sealed(set.name(), write);
  // The log may say that it is sealed before any agent does; or all that had sealed it are lost, after their parts were
  // made again and before these were sealed.
  if (!sealed)
    if (auto encoded = caches.encoded(set.name(), write);
        encoded && (nobody_writes || facts.is_sealed(encoded->encoding)))
      sealed = std::move(encoded);
  if (!sealed) return false;
  // Those that had sealed it too may have been lost before anybody heard that it is safe.
  if (!sealed->wrong.empty() && !facts.is_sealed(sealed->encoding) && !caches.is_told(set.name(), write)) return false;
  const auto parts = caches.parts(set.name(), sealed->write);
  const auto is_of_it = [&](const auto& one) {
    const auto part = parts.find(one.first);
    return part != parts.end() && std::ranges::any_of(part->second->held, [&](const HeldPosition& held) {
             return held.id == sealed->encoding && held.is_encoded;
           });
  };
  if (!std::ranges::all_of(offered, is_of_it)) return false;  // it is being rewritten
  // An agent that takes a lost part offers it as encoded, to this coordinator or the next one: it belongs to this set.
  if (sealed->encoding != 0 && !facts.is_sealed(sealed->encoding))
    decide(decided::Sealed{set.name(), sealed->encoding});
  finish(set.id(), {.state = wire::SetState::cached,
                    .stored_as = {},
                    .message = "it was sealed before",
                    .ordinal = sealed->ordinal,
                    .is_known = true});
  return true;
}

void Coordinator::Impl::leave_what_others_know(const std::string& set, uint64_t write) {
  const SetRow* const row = sets.find(set);
  if (row == nullptr) return;
  if (caches.is_told(set, write)) leave_to_caches(*row);
}

// The others may be gone, or have made room for newer sets. The end does not wait for them longer than that.
void Coordinator::Impl::leave_what_is_late() {
  sets.for_each(
      [&](const SetRow& row) {
        return row.drain.phase() == SetPhase::incomplete && now - row.drain.row().since > 2 * options.peer_timeout;
      },
      [&](const SetRow& row) {
        const auto& parts = row.drain.parts();
        if (leave_to_caches(row) || !draining_to_end || row.flush || parts.empty()) return;
        if (caches.sealed(row.drain.name(), parts.begin()->second.write))
          give_up(row.drain.id(), row.drain.what_is_missing(roster.hosts()));
      });
}

void Coordinator::Impl::await_offers(const std::string& set, const std::vector<SetAnnouncements::Listener>& listeners) {
  std::erase_if(awaited, [&](const auto& one) { return !is_awaited(one.second); });
  Order& one = awaited[set] = Order(OrderKind::offer, 0, now, options.peer_timeout);
  for (const SetAnnouncements::Listener& listener : listeners) one.ask(listener.session, {});
}

// An agent that has removed the set does not offer it again.
bool Coordinator::Impl::is_awaited(const Order& offers) const { return offers.waiting() > 0 && !offers.is_late(now); }

bool Coordinator::Impl::are_offers_awaited() const {
  return std::ranges::any_of(awaited, [&](const auto& one) { return is_awaited(one.second); });
}

void Coordinator::Impl::cache_agent_joined(SessionId id, const Session& session) {
  const wire::AgentHelloT& agent = *session.agent;
  recovery.joined(
      session.key,
      {.session = id, .host = agent.host, .node = agent.node, .addresses = agent.addresses, .stage = agent.stage});
}

void Coordinator::Impl::cache_agent_left(SessionId id, const Session& session) {
  for (auto& [set, one] : awaited) one.lost(id);
  std::erase_if(unconfirmed, [&](const auto& one) { return one.first.first == id; });
  apply(recovery.left(session.key, now));
}

void Coordinator::Impl::tick_caches() {
  tick_encodings();
  tick_rejects();
  leave_what_is_late();
  apply(recovery.tick(now));
}

// It is offered again by its agents, which are asked for what they have.
void Coordinator::Impl::store_cached(const CachedSet& set) {
  info(fmt::format("set {} is in the caches only, and is stored now", set.name));
  SetRow& row = row_named(set.name);
  row.flush = set;
  if (row.drain.phase() == SetPhase::whole) return go_on(row.drain.id());
  // Also where some have offered their parts already: the others were told that theirs are in the caches.
  apply(settling.begin(0, now));
}

void Coordinator::Impl::flush_ended(const CachedSet& flushed, const SetDrain::Ended& ended) {
  const std::string& set = flushed.name;
  const bool is_stored = ended.state == wire::SetState::durable;
  if (is_stored) caches.stored(set, flushed.write, ended.stored_as);
  const std::string why = ended.message.empty() ? "it was not stored" : ended.message;
  cache_tier.stored(set, is_stored ? std::string() : why);
  if (closing && closing->name == set) {
    const auto left = caches.find(set, closing->write, closing->encoding);
    if (is_stored)
      closed();
    else
      close_failed(why, left && left->wrong.empty() && left->lost > 0);
  }
  advance_restart();
}

void Coordinator::Impl::quarantine(const CachedSet& set, const std::string& reason, bool removes) {
  quarantine({.set = set.name, .reason = reason, .write = set.write, .encoding = set.encoding, .removes = removes});
}

void Coordinator::Impl::quarantine(CachedSets::Quarantined refused) {
  if (refused.removes)
    info(fmt::format("set {} is removed: {}", refused.set, refused.reason));
  else
    warn(fmt::format("set {} is set aside: {}", refused.set, refused.reason));
  for (const auto& [key, id] : roster.agents())
    send(id, wire::QuarantineT{
                 .set = refused.set, .id = refused.encoding, .reason = refused.reason, .removes = refused.removes});
  caches.quarantine(std::move(refused));
}

// By the application, and so for good. What is damaged is not: some of it may only be away, and the next coordinator
// looks at it anew.
void Coordinator::Impl::refuse(const CachedSet& set, const std::string& reason, bool removes) {
  forget_newest(set.name);
  decided::Refused refused{set.name, text_of_record(reason), set.write, set.encoding, removes};
  const bool is_by_name = refused.is_by_name();
  if (!facts.is_refused(refused)) decide(std::move(refused));
  quarantine({set.name, reason, set.write, set.encoding, removes, is_by_name});
}

// What coordinators before have refused.
void Coordinator::Impl::take_refusals() {
  for (const decided::Refused& one : facts.refused)
    caches.quarantine({one.set, one.reason, one.write, one.encoding, one.removes, one.is_by_name()});
  for (const auto& [name, reason] : facts.aside)
    if (store_tier.refuse(name, reason)) out.commands.emplace_back(SetAside{name, reason});
}

namespace {

std::string reason_of(const wire::RejectT& rejected) {
  return rejected.reason.empty() ? "the application could not use it" : rejected.reason;
}

}  // namespace

bool Coordinator::Impl::refuse_cached(const wire::RejectT& rejected, const std::string* key, std::string& stored_as) {
  const std::string reason = reason_of(rejected);
  bool is_there = false;
  for (const CachedSet& set : caches.sets()) {
    if (set.name != rejected.set) continue;
    const CachedPart* const part = key == nullptr ? nullptr : caches.part(*key, set.name);
    if (key != nullptr && (part == nullptr || part->write != set.write)) continue;
    // It came from the store, and what the node has now may have been written since.
    if (key != nullptr && !rejected.stored_as.empty() && set.stored_as != rejected.stored_as) continue;
    is_there = true;
    if (stored_as.empty()) stored_as = set.stored_as;
    const bool is_known = facts.is_refused({set.name, {}, set.write, set.encoding, rejected.removes});
    if (key == nullptr || !is_known) refuse(set, reason, rejected.removes);
  }
  return is_there;
}

// It comes back when all that follows from it is decided, and so after the log has that. An agent that repeats it,
// since the coordinator before has not answered, is answered at once.
void Coordinator::Impl::reject(SessionId id, const Session& session, const wire::RejectT& rejected) {
  const std::string reason = reason_of(rejected);
  const bool removes = rejected.removes;
  std::string stored_as = rejected.stored_as;
  forget_newest(rejected.set);
  // What is deleted is so everywhere; what could not be used is the writing that this node has.
  bool is_logged = refuse_cached(rejected, removes ? nullptr : &session.key, stored_as);
  if (!removes && reject_stored(stored_as, reason, ", says " + session.agent->host)) is_logged = true;
  const bool is_known = is_logged || facts.is_newest_refused(rejected.set, removes);
  // Stages also have sets that no agent offers, such as stored ones. From the store the process removes it itself.
  if (removes && !is_logged) {
    if (is_known)
      for (const auto& [key, agent] : roster.agents())
        send(agent, wire::QuarantineT{.set = rejected.set, .reason = reason, .removes = true});
    else
      refuse({.name = rejected.set}, reason, true);
  }
  if (is_known || removes) return confirm(id, rejected);
  unconfirmed.insert_or_assign({id, rejected.set}, Unconfirmed{rejected, now});
}

void Coordinator::Impl::confirm(SessionId id, const wire::RejectT& rejected) {
  unconfirmed.erase({id, rejected.set});
  send(id, wire::RejectT{.set = rejected.set, .removes = rejected.removes});
}

// The agent has offered something of it.
void Coordinator::Impl::reject_again(SessionId id, const Session& session, const std::string& set) {
  if (const auto one = unconfirmed.extract({id, set}); one) reject(id, session, one.mapped().rejected);
}

// Those that had it may be away for long: of them it is refused by its name.
void Coordinator::Impl::tick_rejects() {
  std::vector<std::pair<SessionId, wire::RejectT>> late;
  for (const auto& [of, one] : unconfirmed)
    if (now - one.since >= options.peer_timeout) late.emplace_back(of.first, one.rejected);
  for (const auto& [id, rejected] : late) {
    if (!refuse_everywhere(rejected)) {
      // Agents hear of it when they offer it: it may be written anew meanwhile.
      decide(decided::Refused{.set = rejected.set, .reason = text_of_record(reason_of(rejected))});
      caches.quarantine({.set = rejected.set, .reason = reason_of(rejected), .is_by_name = true});
      warn(fmt::format("set {} is set aside by its name, since no agent offers it: {}", rejected.set,
                       reason_of(rejected)));
    }
    confirm(id, rejected);
  }
}

bool Coordinator::Impl::reject_stored(const std::string& stored_as, const std::string& reason,
                                      const std::string& says) {
  if (stored_as.empty()) return false;
  if (!store_tier.refuse(stored_as, reason)) return true;
  warn(fmt::format("set {} of the store is set aside: {}{}", stored_as, reason, says));
  decide(decided::PutAside{stored_as, text_of_record(reason)});
  out.commands.emplace_back(SetAside{stored_as, reason});
  return true;
}

// As reject(), of somebody who speaks for the whole job: every writing of the set that the stages have, also if no
// agent has offered it to this coordinator.
void Coordinator::Impl::reject_everywhere(const wire::RejectT& rejected) {
  forget_newest(rejected.set);
  if (refuse_everywhere(rejected)) return;
  for (const auto& [key, id] : roster.agents())
    send(id, wire::QuarantineT{.set = rejected.set, .reason = reason_of(rejected)});
}

bool Coordinator::Impl::refuse_everywhere(const wire::RejectT& rejected) {
  std::string stored_as = rejected.stored_as;
  const bool is_there = refuse_cached(rejected, nullptr, stored_as);
  reject_stored(stored_as, reason_of(rejected), {});
  return is_there;
}

void Coordinator::Impl::answered(WasSetAside answer) {
  if (answer.result || answer.result.error().kind == ErrorKind::not_found)
    return decide(decided::PutAside{.stored_as = answer.name, .reason = {}, .is_done = true});
  warn(fmt::format("set {} of the store is set aside for this job only: {}", answer.name,
                   answer.result.error().message()));
}

// A set has become durable. A restart may be reading one that would go: the next durable set has it pruned.
void Coordinator::Impl::prune() {
  if ((options.retention.keep_last == 0 && options.retention.keep_every == 0) || restarts.is_open()) return;
  prunes_again = is_pruning;
  if (std::exchange(is_pruning, true)) return;
  pruning_since = now;
  out.commands.emplace_back(Prune{options.origin.series, options.retention});
}

void Coordinator::Impl::answered(WasPruned answer) {
  is_pruning = false;
  take(std::exchange(after_prune, {}));
  if (!answer.result) return warn("older sets stay in the store: " + answer.result.error().message());
  const engine::Pruned& pruned = *answer.result;
  for (const auto* const list : {&pruned.problems, &pruned.refused, &pruned.left})
    for (const engine::SetProblem& one : *list)
      warn(fmt::format("set {} of the store: {}", one.name, one.error.message()));
  if (!pruned.removed.empty())
    info(fmt::format("removed from the store, as --keep-last and --keep-every say: {}",
                     fmt::join(pruned.removed, ", ")));
  if (std::exchange(prunes_again, false)) prune();
}

void Coordinator::Impl::apply(CacheRecovery::Actions actions) {
  take(std::move(actions.log));
  for (auto& [to, what] : actions.tell) std::visit([&, id = to](auto& table) { send(id, std::move(table)); }, what);
  if (!actions.ended) return;
  if (const SetRow* const row = sets.find(recovery.set().name); actions.ended->is_whole && row != nullptr)
    leave_to_caches(*row);
  if (cache_tier.is_preparing()) {
    cache_tier.recovered(*std::move(actions.ended));
    apply_cache_tier();
    advance_restart();
  } else if (closing) {
    if (actions.ended->is_whole) return store_cached(*closing);
    if (actions.ended->is_damaged) quarantine(*closing, actions.ended->why);
    close_failed(actions.ended->why, !actions.ended->is_damaged);
  }
}

void Coordinator::Impl::apply_cache_tier() {
  CacheTier::Actions actions = cache_tier.take();
  for (CacheRecovery::Actions& one : actions.recovery) apply(std::move(one));
  if (actions.quarantine) quarantine(*actions.quarantine, actions.reason);
  if (actions.store) store_cached(*actions.store);
}

bool Coordinator::Impl::is_caching() const { return are_offers_awaited() || recovery.is_open(); }

void Coordinator::Impl::closed() {
  closing_tries.erase(closing->name);
  closing.reset();
}

// may_be_had: by another try, which mends what was lost meanwhile.
void Coordinator::Impl::close_failed(const std::string& why, bool may_be_had) {
  uint32_t& tries = closing_tries[closing->name];
  tries = may_be_had ? tries + 1 : kMostClosings;
  not_stored(closing->name, closing->ordinal, why);
  closing.reset();
}

// The next coordinator may find nothing of it, and is to report it nonetheless.
void Coordinator::Impl::not_stored(const std::string& set, uint64_t ordinal, const std::string& why) {
  warn(fmt::format("set {} of the caches cannot be stored at the end: {}", set, why));
  decided::NotStored one{set, text_of_record(why), ordinal};
  const auto known = facts.not_stored.find(set);
  if (known == facts.not_stored.end() || known->second != one) decide(std::move(one));
}

// The newest set of the caches is stored, if it is not; where that cannot be, the one before it. Agents that are lost
// may come back, and what was not whole may be so then.
bool Coordinator::Impl::close_caches() {
  if (closing) return false;
  const auto all = caches.sets();
  for (auto set = all.rbegin(); set != all.rend(); ++set) {
    const auto known = closing_tries.find(set->name);
    if (!set->is_for_store || set->is_refused || (known != closing_tries.end() && known->second >= kMostClosings))
      continue;
    if (!set->stored_as.empty() || (set->ordinal != 0 && set->ordinal <= durable_place)) return true;
    if (set->wrong.empty()) {
      closing = *set;
      apply(recovery.begin(*set, {}, now));
      return false;
    }
    if (known != closing_tries.end()) continue;
    closing_tries[set->name] = 0;
    not_stored(set->name, set->ordinal, set->wrong);
  }
  return true;
}

void Coordinator::Impl::note_newest(const wire::OfferT& offered) {
  if (offered.state == wire::SetState::durable) return note_durable(offered.set, offered.ordinal);
  const bool is_for_store = !offered.policy || offered.policy->flush != wire::FlushWish::never;
  if (offered.state != wire::SetState::cached || !is_for_store || offered.ordinal <= durable_place) return;
  if (newest_cached && (offered.ordinal < newest_cached->ordinal || offered.set == newest_cached->name)) return;
  newest_cached = {.name = offered.set, .ordinal = offered.ordinal, .missing_since = {}};
}

void Coordinator::Impl::note_durable(const std::string& set, uint64_t ordinal) {
  durable_place = std::max(durable_place, ordinal);
  if (newest_cached && newest_cached->ordinal <= durable_place) newest_cached.reset();
  forget_not_stored([&](const decided::NotStored& one) {
    return one.set == set || (one.ordinal != 0 && one.ordinal <= durable_place);
  });
}

void Coordinator::Impl::forget_newest(const std::string& set) {
  if (facts.may_be_newest_durable(set)) durable_place = 0;
  if (newest_cached && newest_cached->name == set) newest_cached.reset();
  forget_not_stored([&](const decided::NotStored& one) { return one.set == set; });
}

template <class Which>
void Coordinator::Impl::forget_not_stored(Which which) {
  std::vector<decided::NotStored> ended;
  for (const auto& [name, one] : facts.not_stored)
    if (which(one)) ended.push_back({one.set, {}, one.ordinal, true});
  for (decided::NotStored& one : ended) decide(std::move(one));
}

// Those who had it may have gone since they were asked what they have: they are waited for as they were then, from when
// it was first missed, however often agents come and go.
bool Coordinator::Impl::is_newest_closed() {
  if (!newest_cached || closing_tries.contains(newest_cached->name)) return true;
  const std::string& name = newest_cached->name;
  const auto all = caches.sets();
  if (std::ranges::find(all, name, &CachedSet::name) != all.end()) return true;  // close_caches() has seen to it
  if (!newest_cached->missing_since) newest_cached->missing_since = now;
  if (now - *newest_cached->missing_since < 2 * options.peer_timeout) return false;
  closing_tries[name] = 0;
  not_stored(name, newest_cached->ordinal, "nobody has anything of it any more");
  return true;
}

}  // namespace forebay::job
