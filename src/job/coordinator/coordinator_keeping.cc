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

uint64_t Coordinator::Impl::next_number() {
  for (;;)
    if (const uint64_t number = options.numbers ? options.numbers() : own_numbers(); number != 0) return number;
}

// A restart repairs what is sealed, and need not wait for agents that are lost.
void Coordinator::Impl::leave_drains_of_lost() {
  sets.for_each([](const SetRow& row) { return row.is_sealed() && row.drain.needs_lost(); },
                [&](const SetRow& row) {
                  give_up(row.drain.id(), "a node that has a part of it is lost, and a restart repairs it");
                });
}

void Coordinator::Impl::decide_due(SetRow& row) {
  row.protection = protection_of(row.policy, options.protection);
  const auto* known = facts.whole(row.drain.name(), row.drain.parts().begin()->second.write);
  row.is_due = known != nullptr ? known->is_due
                                : row.policy.flush == wire::FlushWish::always ||
                                      (row.policy.flush == wire::FlushWish::job && !row.flush &&
                                       (options.flush_every == 1 || facts.is_due(options.flush_every)));
}

// Towards every n-th set that is stored.
bool Coordinator::Impl::is_counted(const SetRow& row) const {
  return row.policy.flush == wire::FlushWish::job && options.flush_every > 1 && !row.flush;
}

// Nothing, if that is known of this writing of it.
void Coordinator::Impl::decide_whole(const SetRow& row, std::optional<Pace::Set> sample) {
  const uint64_t write = row.drain.parts().begin()->second.write;
  if (row.flush && facts.whole(row.drain.name(), write) != nullptr) return;
  decided::Whole whole{.set = row.drain.name(),
                       .write = write,
                       .ordinal = row.drain.ordinal(),
                       .is_due = row.is_due.value_or(false),
                       .is_counted = is_counted(row),
                       .sample = std::move(sample)};
  const auto known = facts.wholes.find(whole.set);
  const std::string& set = row.drain.name();
  const bool is_by_name = facts.is_refused({.set = set, .reason = {}});
  if (known == facts.wholes.end() || known->second != whole || is_by_name) decide(std::move(whole));
  caches.release(set);
  std::erase_if(unconfirmed, [&](const auto& one) { return one.first.second == set; });
}

// It is whole: what becomes of it is decided the first time.
void Coordinator::Impl::completed(uint64_t id) {
  SetRow& row = sets.at(id);
  uint32_t longest_ms = 0;
  for (const auto& [key, part] : row.drain.parts()) longest_ms = std::max(longest_ms, part.took_ms);
  ++sets_completed;
  auto sample = cadence.completed(row.drain.name(), longest_ms / 1e3, now);
  place(row.drain);
  if (!row.is_due) decide_due(row);
  decide_whole(row, std::move(sample));
  go_on(id);
}

// Phase whole: its encoding begins, after a failure when its pause is over, unless there is nothing to encode.
void Coordinator::Impl::go_on(uint64_t id) {
  SetRow& row = sets.at(id);
  if (row.needs_no_encoding()) {
    row.drain.go(SetEvent::ready);
    return store_or_keep(id);
  }
  if (!row.encoding) row.encoding.emplace(row.drain.name(), row.protection, options.set_timeout);
  if (row.encoding->is_ready(now) && !adopt(row)) protect(row);
}

// Phase waiting.
void Coordinator::Impl::store_or_keep(uint64_t id) {
  SetRow& row = sets.at(id);
  if (row.is_to_store())
    queue(id);
  else
    apply(id, row.drain.keep({}));
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

void Coordinator::Impl::protect(SetRow& row) {
  std::vector<ProtectedPart> parts;
  const std::string& kind = failure_group_of(row.policy, options);
  for (const auto& [key, part] : row.drain.parts()) {
    caches.encodes_anew(key, row.drain.name());
    parts.push_back(protected_part(part, *roster.find(part.session)->agent, kind));
  }
  apply(row.drain.id(), row.encoding->begin(std::move(parts), next_number(), now));
}

// Another coordinator may have come as far as to the seal: then all agents say that they are encoded.
bool Coordinator::Impl::adopt(SetRow& row) {
  const Parts& offered = row.drain.parts();
  const auto cached = caches.encoded(row.drain.name(), offered.begin()->second.write);
  if (!cached || cached->lost != 0) return false;
  std::vector<SetProtection::Encoded> members;
  const auto groups = caches.groups(cached->name, cached->encoding);
  for (uint32_t g = 0; g < groups.size(); ++g)
    for (uint32_t p = 0; p < groups[g].members.size(); ++p) {
      const auto part = offered.find(groups[g].members[p].holder);
      if (part == offered.end()) return false;
      members.push_back({.part = protected_part(part->second, *roster.find(part->second.session)->agent,
                                                failure_group_of(row.policy, options)),
                         .group = g,
                         .position = p,
                         .is_sealed = groups[g].members[p].is_sealed});
    }
  std::set<SessionId> holders;
  for (const auto& one : members) holders.insert(one.part.session);
  if (members.size() != offered.size() || holders.size() != members.size()) return false;
  apply(row.drain.id(), row.encoding->adopt(std::move(members), static_cast<uint32_t>(groups.size()),
                                            groups.front().losses, cached->encoding, now));
  return true;
}

void Coordinator::Impl::tick_encodings() {
  sets.for_each([](const SetRow& row) { return row.encoding && !row.encoding->has_ended(); },
                [&](SetRow& row) {
                  const bool may_begin = row.needs_no_encoding() || row.encoding->is_ready(now);
                  if (row.drain.phase() == SetPhase::whole && may_begin)
                    go_on(row.drain.id());
                  else
                    apply(row.drain.id(), row.encoding->tick(now));
                });
}

void Coordinator::Impl::send_orders(SetProtection& encoding, size_t most) {
  for (auto& [to, what] : encoding.take(most))
    if (roster.find(to) != nullptr) std::visit([&, id = to](auto& table) { send(id, std::move(table)); }, what);
}

void Coordinator::Impl::apply(uint64_t id, SetProtection::Actions actions) {
  SetRow& row = sets.at(id);
  take(std::move(actions.log));
  for (const SetEvent event : actions.events) row.drain.go(event);
  if (!actions.ended) return;
  if (actions.ended->is_sealed)
    sealed(row);
  else
    unprotected(row, actions.ended->why);
}

void Coordinator::Impl::sealed(SetRow& row) {
  const SetProtection::Row encoded = row.encoding->row(now);
  info(fmt::format("set {} is sealed: {} in {} groups, encoding {:x}, in {:.1f} s", row.drain.name(),
                   redundancy::to_text(row.protection), encoded.groups, encoded.id, encoded.seconds));
  if (row.drain.is_complete()) return store_or_keep(row.drain.id());
  apply(row.drain.id(),
        row.drain.keep(fmt::format("{} of {} members were lost when it was sealed", encoded.lost, encoded.members)));
}

void Coordinator::Impl::unprotected(SetRow& row, const std::string& why) {
  send_orders(*row.encoding, kAll);
  warn(fmt::format("set {} is not protected ({}), and stored instead: {}", row.drain.name(),
                   redundancy::to_text(row.protection), why));
  if (row.drain.phase() == SetPhase::waiting) store_or_keep(row.drain.id());
}

// After a change of its parts: an encoding is of those that it began with. Once it is sealed, those that have gone are
// missed.
void Coordinator::Impl::check_parts(uint64_t id) {
  SetRow* const row = sets.find(id);
  if (row == nullptr || !row->encoding || row->encoding->has_ended()) return;
  bool is_same = row->drain.is_whole();
  for (const auto& [key, part] : row->drain.parts())
    is_same = is_same && row->encoding->has_part(part.session, part.exposure);
  if (!is_same) apply(id, row->encoding->interrupt("a part of it was changed", now));
}

SetRow* Coordinator::Impl::row_of_encoding(uint64_t number) {
  return sets.first([&](const SetRow& row) { return row.encoding && row.encoding->id() == number; });
}

void Coordinator::Impl::was_protected(SessionId id, const wire::ProtectedT& answer) {
  if (SetRow* const row = row_of_encoding(answer.id)) apply(row->drain.id(), row->encoding->encoded(id, answer, now));
}

void Coordinator::Impl::was_sealed(SessionId id, const Session& session, const wire::SealedT& answer) {
  if (SetRow* const row = row_of_encoding(answer.id)) apply(row->drain.id(), row->encoding->sealed(id, answer));
  apply(recovery.sealed(session.key, answer, now));
}

// Whether what is left of a sealed set makes it whole.
bool Coordinator::Impl::is_had(const SetRow& row) {
  return row.encoding->survives([&](const ProtectedPart& member) {
    return std::ranges::any_of(row.drain.parts(), [&](const auto& one) {
      const Part& part = one.second;
      return part.session != 0 && part.node == member.node && part.stage == member.stage;
    });
  });
}

// The set is over. What was sealed stays in the caches, whatever kept it from the store, unless more of it is lost than
// its scheme survives: nothing older goes for such a set.
Coordinator::Impl::Kept Coordinator::Impl::close_encoding(SetRow& row, SetDrain::Ended& ended) {
  const bool is_stored = ended.state == wire::SetState::durable;
  const bool is_lost = !is_stored && row.is_sealed() && !is_had(row);
  Kept kept{.encoding = row.is_sealed() && !is_lost ? row.encoding->id() : 0,
            .owes_flush = !is_stored && row.is_to_store() && is_counted(row)};
  if (row.encoding && kept.encoding == 0) forget_encoding(row);
  if (is_lost) ended.state = wire::SetState::failed;
  if (is_lost)
    ended.message += fmt::format("; more of its nodes are lost than {} survives", redundancy::to_text(row.protection));
  if (kept.encoding != 0 && !is_stored && ended.state != wire::SetState::cached) {
    ended.state = wire::SetState::cached;
    ended.message = "it is not stored: " + ended.message;
  }
  return kept;
}

std::optional<Encoding> Coordinator::Impl::encoding_of(const SetRow& row) const {
  if (!row.encoding) return std::nullopt;
  return Encoding{row.drain.name(), redundancy::to_text(row.protection), row.encoding->row(now)};
}

void Coordinator::Impl::forget_encoding(SetRow& row) {
  row.encoding->cancel();
  send_orders(*row.encoding, kAll);
}

}  // namespace forebay::job
