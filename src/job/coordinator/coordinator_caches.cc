// What the caches hold (decision 0037): offers of it, recoveries, sets that are refused, and the end.
#include <algorithm>

#include <fmt/format.h>

#include "job/coordinator/coordinator_impl.h"

namespace forebay::job {
namespace {

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
      .bytes = part.bytes,
      .state = offered.state,
      .stored_as = offered.stored_as};
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
  offers_seen(offered.set, id);
  const CachedPart& known = *caches.parts(offered.set, part.write).at(session.key);
  if (const auto* refused = caches.quarantined(offered.set, known)) {
    send(id, wire::QuarantineT{.set = offered.set, .id = refused->encoding, .reason = refused->reason});
    return true;
  }
  bool is_over = is_cached(offered);
  if (!set_ids.contains(offered.set))
    for (const HeldPosition& held : known.held) {
      if (!held.is_encoded || !sealed_sets.contains(held.id)) continue;
      if (!held.is_sealed) send(id, wire::SealT{.id = held.id, .set = offered.set});
      if (is_cached(offered)) continue;
      wire::SetNewsT sealed = news(offered.set, {wire::SetState::cached, {}, {}});
      sealed.exposure = part.exposure;
      send(id, std::move(sealed));
      is_over = true;
    }
  if (const auto flush = flushes.find(offered.set); flush != flushes.end() && is_over) {
    const CachedSet& set = flush->second.set;
    const bool is_holder =
        std::ranges::any_of(known.held, [&](const HeldPosition& held) { return held.id == set.encoding; });
    if (part.write == set.write && (set.encoding == 0 || is_holder)) is_over = false;
  }
  apply(recovery.changed(now));
  return is_over;
}

void Coordinator::Impl::await_offers(const std::string& set, const std::vector<SetAnnouncements::Listener>& listeners) {
  Awaited& one = awaited[set];
  one.since = now;
  one.agents.clear();
  for (const SetAnnouncements::Listener& listener : listeners) one.agents.insert(listener.session);
  if (one.agents.empty()) awaited.erase(set);
}

void Coordinator::Impl::offers_seen(const std::string& set, SessionId id) {
  const auto one = awaited.find(set);
  if (one == awaited.end()) return;
  one->second.agents.erase(id);
  if (one->second.agents.empty()) awaited.erase(one);
}

CacheRecovery::Agents Coordinator::Impl::cache_agents() const {
  CacheRecovery::Agents agents;
  for (const auto& [key, id] : roster.agents()) {
    const wire::AgentHelloT& agent = *roster.find(id)->agent;
    agents[key] = {
        .session = id, .host = agent.host, .node = agent.node, .addresses = agent.addresses, .stage = agent.stage};
  }
  return agents;
}

void Coordinator::Impl::cache_agent_joined(SessionId id, const Session& session) {
  const wire::AgentHelloT& agent = *session.agent;
  const CacheRecovery::Agent one{
      .session = id, .host = agent.host, .node = agent.node, .addresses = agent.addresses, .stage = agent.stage};
  cache_tier.joined(session.key, one);
  recovery.joined(session.key, one);
}

void Coordinator::Impl::cache_agent_left(SessionId id, const Session& session) {
  for (auto one = awaited.begin(); one != awaited.end();) {
    one->second.agents.erase(id);
    one = one->second.agents.empty() ? awaited.erase(one) : std::next(one);
  }
  cache_tier.left(id);
  apply(recovery.left(session.key, now));
}

void Coordinator::Impl::tick_caches() {
  protect_again();
  apply(recovery.tick(now));
  // An agent that has removed the set does not offer it again.
  std::erase_if(awaited, [&](const auto& one) { return now - one.second.since >= options.peer_timeout; });
  std::vector<std::string> late;
  for (const auto& [name, flush] : flushes)
    if (!set_ids.contains(name) && now - flush.since >= options.set_timeout) late.push_back(name);
  for (const std::string& name : late)
    flush_ended(name,
                {.state = wire::SetState::cached, .stored_as = {}, .message = "its parts were not offered again"});
}

// It is offered again by its agents, which are asked for what they have.
void Coordinator::Impl::store_cached(const CachedSet& set) {
  info(fmt::format("set {} is in the caches only, and is stored now", set.name));
  flushes[set.name] = {set, now};
  const auto known = set_ids.find(set.name);
  if (known == set_ids.end()) {
    apply(settling.begin(0, now));
    return;
  }
  Keeping& one = keeping[known->second];
  one.is_decided = one.is_due = one.is_ready = true;
  if (sets.at(known->second).phase() == SetDrain::Phase::waiting) queue(known->second);
}

void Coordinator::Impl::flush_ended(const std::string& set, const SetDrain::Ended& ended) {
  const auto node = flushes.extract(set);
  if (!node) return;
  const bool is_stored = ended.state == wire::SetState::durable;
  if (is_stored) caches.stored(set, node.mapped().set.write, ended.stored_as);
  const std::string why = ended.message.empty() ? "it was not stored" : ended.message;
  cache_tier.stored(set, is_stored ? std::string() : why);
  if (closing && closing->name == set) {
    if (is_stored)
      closing.reset();
    else
      close_failed(why);
  }
  advance_restart();
}

void Coordinator::Impl::quarantine(const CachedSet& set, const std::string& reason) {
  warn(fmt::format("set {} is set aside: {}", set.name, reason));
  caches.quarantine(set.name, set.write, set.encoding, reason);
  for (const auto& [key, id] : roster.agents())
    send(id, wire::QuarantineT{.set = set.name, .id = set.encoding, .reason = reason});
}

void Coordinator::Impl::reject(SessionId id, const Session& session, const wire::RejectT& rejected) {
  const std::string reason = rejected.reason.empty() ? "the application could not use it" : rejected.reason;
  std::string stored_as = rejected.stored_as;
  for (const CachedSet& set : caches.sets()) {
    if (set.name != rejected.set) continue;
    const auto parts = caches.parts(set.name, set.write);
    const auto part = parts.find(session.key);
    if (part == parts.end() || caches.quarantined(set.name, *part->second) != nullptr) continue;
    if (stored_as.empty()) stored_as = set.stored_as;
    quarantine(set, reason);
  }
  if (stored_as.empty() || !store_tier.refuse(stored_as, reason)) return;
  warn(fmt::format("set {} of the store is set aside: {}, says {}", stored_as, reason, roster.find(id)->agent->host));
  out.commands.emplace_back(SetAside{stored_as, reason});
}

void Coordinator::Impl::answered(WasSetAside answer) {
  if (!answer.result)
    warn(fmt::format("set {} of the store is set aside for this job only: {}", answer.name,
                     answer.result.error().message()));
}

void Coordinator::Impl::apply(CacheRecovery::Actions actions) {
  take(std::move(actions.log));
  for (auto& [to, what] : actions.tell) std::visit([&, id = to](auto& table) { send(id, std::move(table)); }, what);
  if (!actions.ended) return;
  if (cache_tier.is_preparing()) {
    cache_tier.recovered(*std::move(actions.ended));
    apply_cache_tier();
    advance_restart();
  } else if (closing) {
    if (actions.ended->is_whole) return store_cached(*closing);
    if (actions.ended->is_damaged) quarantine(*closing, actions.ended->why);
    close_failed(actions.ended->why);
  }
}

void Coordinator::Impl::apply_cache_tier() {
  CacheTier::Actions actions = cache_tier.take();
  for (CacheRecovery::Actions& one : actions.recovery) apply(std::move(one));
  if (actions.quarantine) quarantine(*actions.quarantine, actions.reason);
  if (actions.store) store_cached(*actions.store);
}

bool Coordinator::Impl::is_caching() const {
  return !awaited.empty() || !flushes.empty() || recovery.phase() != CacheRecovery::Phase::idle;
}

void Coordinator::Impl::close_failed(const std::string& why) {
  warn(fmt::format("set {} of the caches cannot be stored at the end: {}", closing->name, why));
  could_not_close.insert(closing->name);
  closing.reset();
}

// The newest set of the caches is stored, if it is not; where that cannot be, the one before it.
bool Coordinator::Impl::close_caches() {
  if (closing) return false;
  const auto all = caches.sets();
  for (auto set = all.rbegin(); set != all.rend(); ++set) {
    if (could_not_close.contains(set->name) || !set->is_for_store) continue;
    if (!set->stored_as.empty()) return true;
    if (!set->wrong.empty()) {
      warn(fmt::format("set {} of the caches cannot be stored at the end: {}", set->name, set->wrong));
      could_not_close.insert(set->name);
      continue;
    }
    closing = *set;
    apply(recovery.begin(*set, cache_agents(), {}, now));
    return false;
  }
  return true;
}

}  // namespace forebay::job
