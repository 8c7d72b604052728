// What becomes of sets that are complete: they are protected where that is asked for, and then stored, or kept in the
// caches (decision 0037).
#include <algorithm>

#include <fmt/format.h>

#include "job/coordinator/coordinator_impl.h"

namespace forebay::job {
namespace {

using redundancy::Protection;

redundancy::Scheme scheme_of(wire::Scheme scheme, redundancy::Scheme of_job) {
  switch (scheme) {
    case wire::Scheme::job:
      return of_job;
    case wire::Scheme::none:
      return redundancy::Scheme::none;
    case wire::Scheme::partner:
      return redundancy::Scheme::partner;
    case wire::Scheme::xor_:
      return redundancy::Scheme::xor_;
    case wire::Scheme::rs:
      return redundancy::Scheme::rs;
  }
  return of_job;
}

Protection protection_of(const wire::SetPolicyT& policy, const Protection& of_job) {
  Protection protection = of_job;
  protection.scheme = scheme_of(policy.scheme, of_job.scheme);
  if (policy.group_size != 0) protection.group_size = policy.group_size;
  if (policy.losses != 0) protection.losses = policy.losses;
  return protection;
}

// Of the agent: that of its node, and that of the kind.
std::vector<std::string> labels_of(const wire::AgentHelloT& agent, const std::string& kind) {
  std::string node = "node=" + agent.node;
  std::vector<std::string> labels;
  for (const std::string& label : agent.failure_groups) {
    if (label.starts_with("node=")) node = label;
    if (kind != "node" && label.starts_with(kind + "=")) labels.push_back(label);
  }
  labels.push_back(std::move(node));
  return labels;
}

}  // namespace

SetProtection* Coordinator::Impl::encoding_of(uint64_t id) {
  const auto found = keeping.find(id);
  return found == keeping.end() || !found->second.encoding ? nullptr : &*found->second.encoding;
}

uint64_t Coordinator::Impl::next_to_tell() const {
  for (const auto& [id, one] : keeping)
    if (one.encoding && one.encoding->has_messages()) return id;
  return 0;
}

uint64_t Coordinator::Impl::next_number() {
  for (;;)
    if (const uint64_t number = options.numbers ? options.numbers() : own_numbers(); number != 0) return number;
}

uint64_t Coordinator::Impl::set_of_encoding(uint64_t number) const {
  for (const auto& [id, one] : keeping)
    if (one.encoding && one.encoding->id() == number) return id;
  return 0;
}

bool Coordinator::Impl::is_sealing(uint64_t set) const {
  const auto found = keeping.find(set);
  return found != keeping.end() && found->second.encoding && found->second.encoding->is_sealing();
}

// It waited for its drain, which cannot be had from what is there.
bool Coordinator::Impl::is_sealed_and_gone(uint64_t set) const {
  const auto found = keeping.find(set);
  const auto drain = sets.find(set);
  return found != keeping.end() && found->second.is_sealed() && drain != sets.end() &&
         drain->second.phase() == SetDrain::Phase::incomplete;
}

// A restart repairs what is sealed, and need not wait for agents that are lost.
void Coordinator::Impl::leave_drains_of_lost() {
  std::vector<uint64_t> ids;
  for (const auto& [id, one] : keeping)
    if (const auto set = sets.find(id); one.is_sealed() && set != sets.end() && set->second.needs_lost())
      ids.push_back(id);
  for (const uint64_t id : ids)
    if (sets.contains(id)) give_up(id, "a node that has a part of it is lost, and a restart repairs it");
}

// It is sealed, cannot be, or need not be.
bool Coordinator::Impl::is_ready(const SetDrain& set) const {
  const Keeping& one = keeping.at(set.id());
  return one.protection.scheme == redundancy::Scheme::none || (one.encoding && one.encoding->has_ended()) ||
         flushes.contains(set.name());
}

// What cannot be protected is stored.
bool Coordinator::Impl::is_due(const SetDrain& set) const {
  const Keeping& one = keeping.at(set.id());
  return one.is_due.value_or(false) || (one.encoding && one.encoding->has_ended() && !one.is_sealed()) ||
         flushes.contains(set.name());
}

bool Coordinator::Impl::is_to_drain(const SetDrain& set) const {
  return keeping.contains(set.id()) && is_ready(set) && is_due(set);
}

void Coordinator::Impl::decide(const SetDrain& set, Keeping& one) {
  one.protection = protection_of(one.policy, options.protection);
  const auto* known = facts.whole(set.name(), set.parts().begin()->second.write);
  one.is_due = known != nullptr ? known->is_due
                                : one.policy.flush == wire::FlushWish::always ||
                                      (one.policy.flush == wire::FlushWish::job && !flushes.contains(set.name()) &&
                                       (options.flush_every == 1 || facts.is_due(options.flush_every)));
}

// Towards every n-th set that is stored.
bool Coordinator::Impl::is_counted(const SetDrain& set) const {
  return keeping.at(set.id()).policy.flush == wire::FlushWish::job && options.flush_every > 1 &&
         !flushes.contains(set.name());
}

// Nothing, if that is known of this writing of it.
void Coordinator::Impl::decide_whole(const SetDrain& set, std::optional<Pace::Set> sample) {
  const uint64_t write = set.parts().begin()->second.write;
  if (flushes.contains(set.name()) && facts.whole(set.name(), write) != nullptr) return;
  decided::Whole whole{.set = set.name(),
                       .write = write,
                       .ordinal = set.ordinal(),
                       .is_due = keeping.at(set.id()).is_due.value_or(false),
                       .is_counted = is_counted(set),
                       .sample = std::move(sample)};
  const auto known = facts.wholes.find(whole.set);
  if (known == facts.wholes.end() || known->second != whole) decide(std::move(whole));
}

void Coordinator::Impl::keep(uint64_t id, std::optional<Pace::Set> sample) {
  Keeping& one = keeping[id];
  if (!one.is_due) decide(sets.at(id), one);
  decide_whole(sets.at(id), std::move(sample));
  if (is_ready(sets.at(id))) return store_or_keep(id);
  if (!one.encoding) one.encoding.emplace(sets.at(id).name(), one.protection, options.set_timeout);
  if (one.encoding->is_ready(now) && !adopt(id)) protect(id);
}

void Coordinator::Impl::store_or_keep(uint64_t id) {
  if (is_due(sets.at(id)))
    queue(id);
  else
    apply(id, sets.at(id).keep({}));
}

namespace {

const std::string& failure_group_of(const wire::SetPolicyT& policy, const CoordinatorOptions& options) {
  return policy.failure_group.empty() ? options.failure_group : policy.failure_group;
}

ProtectedPart protected_part(const Part& part, const wire::AgentHelloT& agent, const std::string& kind) {
  return {.session = part.session,
          .host = part.host,
          .node = part.node,
          .addresses = part.addresses,
          .stage = part.stage,
          .labels = labels_of(agent, kind),
          .exposure = part.exposure,
          .bytes = part.bytes,
          .ranks = part.covered};
}

}  // namespace

void Coordinator::Impl::protect(uint64_t id) {
  std::vector<ProtectedPart> parts;
  const std::string& kind = failure_group_of(keeping.at(id).policy, options);
  for (const auto& [key, part] : sets.at(id).parts())
    parts.push_back(protected_part(part, *roster.find(part.session)->agent, kind));
  apply(id, keeping.at(id).encoding->begin(std::move(parts), next_number(), now));
}

// Another coordinator may have come as far as to the seal: then all agents say that they are encoded.
bool Coordinator::Impl::adopt(uint64_t id) {
  const SetDrain& set = sets.at(id);
  for (const CachedSet& cached : caches.sets()) {
    if (cached.name != set.name() || cached.encoding == 0 || cached.lost != 0 || !cached.wrong.empty()) continue;
    std::vector<SetProtection::Encoded> members;
    const auto groups = caches.groups(cached.name, cached.encoding);
    for (uint32_t g = 0; g < groups.size(); ++g)
      for (uint32_t p = 0; p < groups[g].members.size(); ++p) {
        const auto part = set.parts().find(groups[g].members[p].holder);
        if (part == set.parts().end() || part->second.write != cached.write) return false;
        const auto is_its = [&](const auto& one) { return one.part.session == part->second.session; };
        if (std::ranges::any_of(members, is_its)) return false;
        members.push_back({.part = protected_part(part->second, *roster.find(part->second.session)->agent,
                                                  failure_group_of(keeping.at(id).policy, options)),
                           .group = g,
                           .position = p,
                           .is_sealed = groups[g].members[p].is_sealed});
      }
    if (members.size() != set.parts().size()) return false;
    apply(id, keeping.at(id).encoding->adopt(std::move(members), static_cast<uint32_t>(groups.size()),
                                             groups.front().losses, cached.encoding, now));
    return true;
  }
  return false;
}

// Those that failed before, when their pause is over.
void Coordinator::Impl::protect_again() {
  std::vector<uint64_t> ids;
  for (const auto& [id, one] : keeping) ids.push_back(id);
  for (const uint64_t id : ids) {
    SetProtection* const encoding = encoding_of(id);
    const auto set = sets.find(id);
    if (encoding == nullptr || set == sets.end() || is_ready(set->second)) continue;
    if (set->second.phase() == SetDrain::Phase::waiting && encoding->is_ready(now))
      protect(id);
    else
      apply(id, encoding->tick(now));
  }
}

void Coordinator::Impl::send_orders(SetProtection& encoding, size_t most) {
  for (auto& [to, what] : encoding.take(most))
    if (roster.find(to) != nullptr) std::visit([&, id = to](auto& table) { send(id, std::move(table)); }, what);
}

void Coordinator::Impl::apply(uint64_t set, SetProtection::Actions actions) {
  take(std::move(actions.log));
  if (!actions.ended) return;
  if (actions.ended->is_sealed)
    sealed(set);
  else
    unprotected(set, actions.ended->why);
}

void Coordinator::Impl::sealed(uint64_t set) {
  constexpr size_t kMostSealed = 32;
  const Keeping& one = keeping.at(set);
  const SetProtection::Row row = one.encoding->row(now);
  info(fmt::format("set {} is sealed: {} in {} groups, encoding {:x}, in {:.1f} s", one.encoding->set(),
                   redundancy::to_text(one.protection), row.groups, row.id, row.seconds));
  sealed_sets.push_back({one.encoding->set(), redundancy::to_text(one.protection), row});
  if (sealed_sets.size() > kMostSealed) sealed_sets.pop_front();
  if (sets.at(set).phase() == SetDrain::Phase::waiting) return store_or_keep(set);
  apply(set, sets.at(set).keep(fmt::format("{} of {} members were lost when it was sealed", row.lost, row.members)));
}

void Coordinator::Impl::unprotected(uint64_t set, const std::string& why) {
  Keeping& one = keeping.at(set);
  send_orders(*one.encoding, kAll);
  warn(fmt::format("set {} is not protected ({}), and stored instead: {}", one.encoding->set(),
                   redundancy::to_text(one.protection), why));
  if (sets.at(set).phase() == SetDrain::Phase::waiting) store_or_keep(set);
}

// After a change of its parts: an encoding is of those that it began with. Once it is sealed, who has gone is missed.
void Coordinator::Impl::check_parts(uint64_t set) {
  SetProtection* const encoding = encoding_of(set);
  const auto found = sets.find(set);
  if (encoding == nullptr || found == sets.end() || is_ready(found->second)) return;
  bool is_same = is_sealing(set) || found->second.phase() == SetDrain::Phase::waiting;
  for (const auto& [key, part] : found->second.parts())
    is_same = is_same && encoding->has_part(part.session, part.exposure);
  if (!is_same) apply(set, encoding->interrupt("a part of it was changed", now));
}

void Coordinator::Impl::was_protected(SessionId id, const wire::ProtectedT& answer) {
  if (const uint64_t set = set_of_encoding(answer.id); set != 0) apply(set, encoding_of(set)->encoded(id, answer, now));
}

void Coordinator::Impl::was_sealed(SessionId id, const Session& session, const wire::SealedT& answer) {
  if (const uint64_t set = set_of_encoding(answer.id); set != 0) apply(set, encoding_of(set)->sealed(id, answer));
  apply(recovery.sealed(session.key, answer, now));
}

// The set is over. What was sealed stays in the caches, whatever kept it from the store.
Coordinator::Impl::Kept Coordinator::Impl::close_keeping(const SetDrain& set, SetDrain::Ended& ended) {
  const auto found = keeping.find(set.id());
  if (found == keeping.end()) return {};
  Keeping& one = found->second;
  Kept kept{.encoding = one.is_sealed() ? one.encoding->id() : 0,
            .owes_flush = ended.state != wire::SetState::durable && is_due(set) && is_counted(set)};
  if (one.encoding && kept.encoding == 0) {
    one.encoding->cancel();
    send_orders(*one.encoding, kAll);
  }
  keeping.erase(found);
  if (kept.encoding != 0 && ended.state != wire::SetState::durable && ended.state != wire::SetState::cached) {
    ended.state = wire::SetState::cached;
    ended.message = "it is not stored: " + ended.message;
  }
  return kept;
}

}  // namespace forebay::job
