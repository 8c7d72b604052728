#include "job/coordinator/protection.h"

#include <algorithm>

#include <fmt/format.h>

#include "job/coordinator/orders.h"
#include "redundancy/geometry.h"
#include "redundancy/placement.h"

namespace forebay::job {
namespace {

wire::Scheme wire_scheme(redundancy::Scheme scheme) {
  using redundancy::Scheme;
  switch (scheme) {
    case Scheme::none:
      return wire::Scheme::none;
    case Scheme::partner:
      return wire::Scheme::partner;
    case Scheme::xor_:
      return wire::Scheme::xor_;
    case Scheme::rs:
      return wire::Scheme::rs;
  }
  return wire::Scheme::none;
}

// What tells one agent's part from another one's, also on one node.
std::string name_of(const ProtectedPart& part) { return part.node + '\n' + part.stage; }

}  // namespace

const SetProtection::Member* SetProtection::member_of(SessionId agent) const {
  const Order::Asked* const asked = order_.find(agent);
  return asked == nullptr ? nullptr : &members_[static_cast<size_t>(asked - order_.asked().data())];
}

bool SetProtection::has_part(SessionId agent, uint64_t exposure) const {
  const Member* const member = member_of(agent);
  return member != nullptr && member->part.exposure == exposure;
}

std::string SetProtection::place(std::vector<ProtectedPart> parts, LogLines& log) {
  std::vector<redundancy::PlacedNode> nodes;
  nodes.reserve(parts.size());
  for (const ProtectedPart& part : parts) nodes.push_back({name_of(part), part.labels, part.bytes});
  const redundancy::Placement placement = redundancy::place(nodes, protection_);
  if (!placement.unprotected.empty() || placement.groups.empty()) {
    if (parts.size() < 2) return "there is one node only, and nobody to protect it";
    NamedFew hosts;
    for (const unsigned node : placement.unprotected) hosts.add(parts[node].host);
    return fmt::format("no protection group can take {}: too many nodes are of one failure group", hosts.text());
  }
  const unsigned wanted = redundancy::losses_of(protection_);
  for (const auto& nodes_of_group : placement.groups) {
    Group& group = groups_.emplace_back();
    std::vector<uint64_t> sizes;
    for (const unsigned node : nodes_of_group) {
      group.members.push_back(static_cast<uint32_t>(members_.size()));
      sizes.push_back(parts[node].bytes);
      members_.push_back({.part = std::move(parts[node]),
                          .group = static_cast<uint32_t>(groups_.size() - 1),
                          .position = static_cast<uint32_t>(group.members.size() - 1)});
    }
    group.losses = std::min<uint32_t>(wanted, static_cast<uint32_t>(sizes.size()) - 1);
    if (group.losses < wanted)
      log.warn(fmt::format("set {}: a protection group of {} nodes survives the loss of {}, and not of {}", set_,
                           sizes.size(), group.losses, wanted));
    const auto geometry = redundancy::Geometry::make(std::move(sizes), group.losses);
    if (!geometry) return geometry.error().message();
    group.chunk = geometry->chunk();
  }
  return {};
}

SetProtection::Actions SetProtection::begin(std::vector<ProtectedPart> parts, uint64_t number, Time now) {
  Actions actions;
  if (!since_) since_ = now;
  id_ = number;
  ++attempts_;
  members_.clear();
  groups_.clear();
  order_ = {};
  sent_bytes_ = cpu_us_ = 0;
  encoding_since_ = now;
  if (const std::string why = place(std::move(parts), actions.log); !why.empty()) {
    members_.clear();
    end({.is_sealed = false, .why = why}, actions);
    return actions;
  }
  actions.events.push_back(SetEvent::began);
  ask_all(OrderKind::protect, now);
  return actions;
}

void SetProtection::ask_all(OrderKind kind, Time now) {
  order_ = Order(kind, id_, now, timeout_);
  for (const Member& member : members_) order_.ask(member.part.session, member.part.host);
  told_ = 0;
}

SetProtection::Actions SetProtection::adopt(std::vector<Encoded> members, uint32_t groups, uint32_t losses,
                                            uint64_t number, Time now) {
  Actions actions;
  if (!since_) since_ = now;
  id_ = number;
  encoding_since_ = now;
  members_.clear();
  groups_.assign(groups, {});
  for (const Encoded& one : members) {
    Group& group = groups_[one.group];
    group.losses = losses;
    group.members.push_back(static_cast<uint32_t>(members_.size()));
    members_.push_back({.part = one.part, .group = one.group, .position = one.position});
  }
  actions.events.push_back(SetEvent::adopted);
  ask_all(OrderKind::seal, now);
  for (const Encoded& one : members)
    if (one.is_sealed) order_.answered({.kind = OrderKind::seal, .number = id_, .from = one.part.session});
  end_if_sealed(actions);
  return actions;
}

wire::ProtectT SetProtection::order(const Member& member) const {
  const Group& group = groups_[member.group];
  wire::ProtectT order;
  order.id = id_;
  order.set = set_;
  order.scheme = wire_scheme(protection_.scheme);
  order.group = member.group;
  order.groups = static_cast<uint32_t>(groups_.size());
  order.position = member.position;
  order.losses = group.losses;
  order.chunk = group.chunk;
  for (const uint32_t index : group.members) {
    const ProtectedPart& part = members_[index].part;
    auto& one = *order.members.emplace_back(std::make_unique<wire::MemberT>());
    one.host = part.host;
    one.node = part.node;
    one.addresses = part.addresses;
    one.stage = part.stage;
    one.data = part.exposure;
    one.bytes = part.bytes;
    one.ranks = part.ranks;
  }
  return order;
}

bool SetProtection::has_messages() const { return !cancels_.empty() || (order_.is_open() && told_ < members_.size()); }

std::vector<SetProtection::Tell> SetProtection::take(size_t most) {
  std::vector<Tell> next;
  for (; next.size() < most && !cancels_.empty(); cancels_.pop_front())
    next.push_back({cancels_.front().first, wire::ProtectCancelT{.id = cancels_.front().second}});
  if (!order_.is_open()) return next;
  for (; next.size() < most && told_ < members_.size(); ++told_) {
    const Member& member = members_[told_];
    if (order_.asked()[told_].state != Order::Asked::State::waiting) continue;
    if (is_sealing())
      next.push_back({member.part.session, wire::SealT{.id = id_, .set = set_}});
    else
      next.push_back({member.part.session, order(member)});
  }
  return next;
}

SetProtection::Actions SetProtection::encoded(SessionId agent, const wire::ProtectedT& answer, Time now) {
  Actions actions;
  if (!order_.is_open() || !order_.answered({.kind = OrderKind::protect,
                                             .number = answer.id,
                                             .from = agent,
                                             .has_failed = answer.failed,
                                             .why = answer.error}))
    return actions;
  const Member& member = *member_of(agent);
  if (answer.failed) {
    const Group& group = groups_[member.group];
    const std::string& culprit =
        answer.fault < group.members.size() ? members_[group.members[answer.fault]].part.host : member.part.host;
    const std::string why = fmt::format("{} says of {}: {}", member.part.host, culprit, answer.error);
    fail(why, now, actions);
    // Once more, as what was in its way may just be leaving; a disk that is still full then stays so.
    if (answer.is_full && attempts_ > 1 && !actions.ended) end({.is_sealed = false, .why = why}, actions);
    return actions;
  }
  sent_bytes_ += answer.sent_bytes;
  cpu_us_ += answer.cpu_us;
  if (order_.state() != Order::State::done) return actions;
  actions.events.push_back(SetEvent::encoded);
  ask_all(OrderKind::seal, now);
  return actions;
}

SetProtection::Actions SetProtection::sealed(SessionId agent, const wire::SealedT& answer) {
  Actions actions;
  if (!order_.is_open() || !order_.answered({.kind = OrderKind::seal,
                                             .number = answer.id,
                                             .from = agent,
                                             .has_failed = answer.failed,
                                             .why = answer.error}))
    return actions;
  if (answer.failed)
    lose(agent, actions);
  else
    end_if_sealed(actions);
  return actions;
}

// A member that is missing when the set is sealed: the others go on without it as long as its group can be repaired.
void SetProtection::lose(SessionId agent, Actions& actions) {
  const Group& group = groups_[member_of(agent)->group];
  const Order::Asked& one = *order_.find(agent);
  actions.log.warn(fmt::format("set {}: the part of {} was lost while it was sealed: {}", set_, one.name, one.why));
  const auto lost = std::ranges::count_if(
      group.members, [&](uint32_t index) { return order_.asked()[index].state == Order::Asked::State::missing; });
  if (lost > group.losses)
    return end({.is_sealed = false,
                .why = fmt::format("{} members of a protection group of {} were lost while it was sealed", lost,
                                   group.members.size())},
               actions);
  end_if_sealed(actions);
}

void SetProtection::end_if_sealed(Actions& actions) {
  if (order_.state() == Order::State::done) end({.is_sealed = true, .why = {}}, actions);
}

SetProtection::Actions SetProtection::left(SessionId agent, Time now) {
  Actions actions;
  std::erase_if(cancels_, [&](const auto& one) { return one.first == agent; });
  if (!order_.is_open() || !order_.lost(agent)) return actions;
  if (is_sealing())
    lose(agent, actions);
  else
    fail(fmt::format("the agent of {} is lost", order_.find(agent)->name), now, actions);
  return actions;
}

SetProtection::Actions SetProtection::interrupt(const std::string& why, Time now) {
  Actions actions;
  if (order_.is_open()) fail(why, now, actions);
  return actions;
}

// What is encoded is removed by all that were told to encode it; what may be sealed, by nobody that has sealed it.
void SetProtection::take_back() {
  for (size_t i = 0; order_.is_open() && i < (is_sealing() ? members_.size() : told_); ++i)
    if (!is_sealing() || order_.asked()[i].state == Order::Asked::State::waiting)
      cancels_.emplace_back(members_[i].part.session, id_);
  order_.end();
}

void SetProtection::cancel() {
  take_back();
  fate_ = Fate::unprotected;
}

void SetProtection::fail(const std::string& why, Time now, Actions& actions) {
  take_back();
  actions.events.push_back(SetEvent::failed);
  retry_.failed(now);
  actions.log.warn(fmt::format("set {}: its encoding {:x} failed, and is made anew in {} s: {}", set_, id_,
                               std::chrono::duration_cast<std::chrono::seconds>(retry_.next() - now).count(), why));
  if (now - *since_ >= timeout_) end({.is_sealed = false, .why = why}, actions);
}

void SetProtection::end(Ended ended, Actions& actions) {
  if (!ended.is_sealed) take_back();
  order_.end();
  fate_ = ended.is_sealed ? Fate::sealed : Fate::unprotected;
  actions.events.push_back(ended.is_sealed ? SetEvent::sealed : SetEvent::given_up);
  actions.ended = std::move(ended);
}

SetProtection::Actions SetProtection::tick(Time now) {
  Actions actions;
  if (has_ended() || !since_) return actions;
  if (is_sealing()) {
    for (size_t i = 0; order_.is_late(now) && i < members_.size(); ++i) {
      if (order_.asked()[i].state != Order::Asked::State::waiting) continue;
      order_.give_up(members_[i].part.session);
      lose(members_[i].part.session, actions);
    }
    return actions;
  }
  if (now - *since_ < timeout_) return actions;
  const std::string waiting = order_.is_open() ? order_.who_is_waited_for() : std::string();
  end({.is_sealed = false,
       .why = fmt::format("it was not encoded in time{}", waiting.empty() ? "" : ": waiting for " + waiting)},
      actions);
  return actions;
}

SetProtection::Row SetProtection::row(Time now) const {
  const bool is_encoded = order_.kind() == OrderKind::seal;
  Row row{.id = id_,
          .groups = static_cast<uint32_t>(groups_.size()),
          .members = members_.size(),
          .encoded = is_encoded ? members_.size() : order_.done(),
          .sealed = is_encoded ? order_.done() : 0,
          .lost = is_encoded ? order_.missing() : 0,
          .attempts = attempts_,
          .sent_bytes = sent_bytes_,
          .cpu_us = cpu_us_};
  for (const Member& member : members_) row.bytes += member.part.bytes;
  for (const Group& group : groups_) row.parity_bytes += group.chunk * group.losses * group.members.size();
  row.seconds = std::chrono::duration<double>(now - encoding_since_).count();
  return row;
}

}  // namespace forebay::job
