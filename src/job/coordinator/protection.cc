#include "job/coordinator/protection.h"

#include <algorithm>

#include <fmt/format.h>

#include "redundancy/geometry.h"
#include "redundancy/placement.h"

namespace forebay::job {
namespace {

constexpr size_t kMostNamed = 8;

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

// Hosts for a message, some of them.
class NamedHosts {
 public:
  void add(const std::string& host) {
    if (++count_ <= kMostNamed) text_ += (count_ == 1 ? "" : ", ") + host;
  }
  std::string text() const {
    return count_ <= kMostNamed ? text_ : fmt::format("{} and {} more", text_, count_ - kMostNamed);
  }

 private:
  size_t count_ = 0;
  std::string text_;
};

}  // namespace

SetProtection::Member* SetProtection::member_of(SessionId agent) {
  const auto found = by_session_.find(agent);
  return found == by_session_.end() ? nullptr : &members_[found->second];
}

bool SetProtection::has_part(SessionId agent, uint64_t exposure) const {
  const auto found = by_session_.find(agent);
  return found != by_session_.end() && members_[found->second].part.exposure == exposure;
}

std::string SetProtection::place(std::vector<ProtectedPart> parts, LogLines& log) {
  std::vector<redundancy::PlacedNode> nodes;
  nodes.reserve(parts.size());
  for (const ProtectedPart& part : parts) nodes.push_back({name_of(part), part.labels, part.bytes});
  const redundancy::Placement placement = redundancy::place(nodes, protection_);
  if (!placement.unprotected.empty() || placement.groups.empty()) {
    if (parts.size() < 2) return "there is one node only, and nobody to protect it";
    NamedHosts hosts;
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
      by_session_[members_.back().part.session] = static_cast<uint32_t>(members_.size() - 1);
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
  by_session_.clear();
  encoded_ = sealed_ = told_ = 0;
  sent_bytes_ = cpu_us_ = 0;
  encoding_since_ = now;
  if (const std::string why = place(std::move(parts), actions.log); !why.empty()) {
    members_.clear();
    end({.is_sealed = false, .why = why}, actions);
    return actions;
  }
  phase_ = Phase::encoding;
  return actions;
}

SetProtection::Actions SetProtection::adopt(std::vector<Encoded> members, uint32_t groups, uint32_t losses,
                                            uint64_t number, Time now) {
  Actions actions;
  if (!since_) since_ = now;
  id_ = number;
  encoding_since_ = now;
  groups_.resize(groups);
  for (Encoded& one : members) {
    Group& group = groups_[one.group];
    group.losses = losses;
    group.members.push_back(static_cast<uint32_t>(members_.size()));
    by_session_[one.part.session] = static_cast<uint32_t>(members_.size());
    members_.push_back({.part = std::move(one.part),
                        .group = one.group,
                        .position = one.position,
                        .is_encoded = true,
                        .is_sealed = one.is_sealed});
  }
  encoded_ = members_.size();
  sealed_ = static_cast<size_t>(std::ranges::count_if(members_, &Member::is_sealed));
  seal(now);
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

bool SetProtection::has_messages() const {
  return !cancels_.empty() || ((phase_ == Phase::encoding || phase_ == Phase::sealing) && told_ < members_.size());
}

std::vector<SetProtection::Tell> SetProtection::take(size_t most) {
  std::vector<Tell> next;
  for (; next.size() < most && !cancels_.empty(); cancels_.pop_front())
    next.push_back({cancels_.front().first, wire::ProtectCancelT{.id = cancels_.front().second}});
  if (phase_ != Phase::encoding && phase_ != Phase::sealing) return next;
  for (; next.size() < most && told_ < members_.size(); ++told_) {
    const Member& member = members_[told_];
    if (member.is_lost || member.is_sealed) continue;
    if (phase_ == Phase::encoding)
      next.push_back({member.part.session, order(member)});
    else
      next.push_back({member.part.session, wire::SealT{.id = id_, .set = set_}});
  }
  return next;
}

SetProtection::Actions SetProtection::encoded(SessionId agent, const wire::ProtectedT& answer, Time now) {
  Actions actions;
  Member* const member = member_of(agent);
  if (phase_ != Phase::encoding || answer.id != id_ || member == nullptr || member->is_encoded) return actions;
  if (answer.failed) {
    const Group& group = groups_[member->group];
    const std::string& culprit =
        answer.fault < group.members.size() ? members_[group.members[answer.fault]].part.host : member->part.host;
    const std::string why = fmt::format("{} says of {}: {}", member->part.host, culprit, answer.error);
    fail(why, now, actions);
    // Once more, as what was in its way may just be leaving; a disk that is still full then stays so.
    if (answer.is_full && attempts_ > 1 && !actions.ended) end({.is_sealed = false, .why = why}, actions);
    return actions;
  }
  member->is_encoded = true;
  sent_bytes_ += answer.sent_bytes;
  cpu_us_ += answer.cpu_us;
  if (++encoded_ == members_.size()) seal(now);
  return actions;
}

void SetProtection::seal(Time now) {
  phase_ = Phase::sealing;
  sealing_since_ = now;
  told_ = 0;
}

SetProtection::Actions SetProtection::sealed(SessionId agent, const wire::SealedT& answer) {
  Actions actions;
  Member* const member = member_of(agent);
  if (phase_ != Phase::sealing || answer.id != id_ || member == nullptr || member->is_sealed || member->is_lost)
    return actions;
  if (answer.failed) {
    lose(*member, answer.error, actions);
    return actions;
  }
  member->is_sealed = true;
  ++sealed_;
  end_if_sealed(actions);
  return actions;
}

// A member of a set that is being sealed: the others go on without it as long as its group can be repaired.
void SetProtection::lose(Member& member, const std::string& why, Actions& actions) {
  if (member.is_lost) return;
  member.is_lost = true;
  if (member.is_sealed) --sealed_;
  ++lost_;
  Group& group = groups_[member.group];
  actions.log.warn(fmt::format("set {}: the part of {} was lost while it was sealed: {}", set_, member.part.host, why));
  if (++group.lost > group.losses)
    return end({.is_sealed = false,
                .why = fmt::format("{} members of a protection group of {} were lost while it was sealed", group.lost,
                                   group.members.size())},
               actions);
  end_if_sealed(actions);
}

void SetProtection::end_if_sealed(Actions& actions) {
  if (phase_ == Phase::sealing && sealed_ + lost_ == members_.size()) end({.is_sealed = true, .why = {}}, actions);
}

SetProtection::Actions SetProtection::left(SessionId agent, Time now) {
  Actions actions;
  Member* const member = member_of(agent);
  std::erase_if(cancels_, [&](const auto& one) { return one.first == agent; });
  if (member == nullptr) return actions;
  if (phase_ == Phase::encoding) fail(fmt::format("the agent of {} is lost", member->part.host), now, actions);
  if (phase_ == Phase::sealing) lose(*member, "its agent is lost", actions);
  return actions;
}

SetProtection::Actions SetProtection::interrupt(const std::string& why, Time now) {
  Actions actions;
  if (phase_ == Phase::encoding || phase_ == Phase::sealing) fail(why, now, actions);
  return actions;
}

void SetProtection::cancel() {
  if (phase_ == Phase::encoding || phase_ == Phase::sealing)
    for (size_t i = 0; i < (phase_ == Phase::sealing ? members_.size() : told_); ++i)
      if (!members_[i].is_lost && !members_[i].is_sealed) cancels_.emplace_back(members_[i].part.session, id_);
  phase_ = Phase::over;
}

void SetProtection::fail(const std::string& why, Time now, Actions& actions) {
  cancel();
  retry_.failed(now);
  actions.log.warn(fmt::format("set {}: its encoding {:x} failed, and is made anew in {} s: {}", set_, id_,
                               std::chrono::duration_cast<std::chrono::seconds>(retry_.next() - now).count(), why));
  phase_ = Phase::pausing;
  if (now - *since_ >= timeout_) end({.is_sealed = false, .why = why}, actions);
}

void SetProtection::end(Ended ended, Actions& actions) {
  if (ended.is_sealed) {
    phase_ = Phase::over;
  } else {
    cancel();
  }
  actions.ended = std::move(ended);
}

SetProtection::Actions SetProtection::tick(Time now) {
  Actions actions;
  if (phase_ == Phase::over || !since_) return actions;
  if (phase_ == Phase::sealing) {
    if (now - sealing_since_ < timeout_) return actions;
    for (Member& member : members_)
      if (!actions.ended && !member.is_sealed) lose(member, "it does not answer", actions);
    return actions;
  }
  if (now - *since_ < timeout_) return actions;
  const std::string waiting = who_is_waited_for();
  end({.is_sealed = false,
       .why = fmt::format("it was not encoded in time{}", waiting.empty() ? "" : ": waiting for " + waiting)},
      actions);
  return actions;
}

std::string SetProtection::who_is_waited_for() const {
  NamedHosts hosts;
  if (phase_ == Phase::encoding || phase_ == Phase::sealing)
    for (const Member& member : members_)
      if (!member.is_lost && !(phase_ == Phase::encoding ? member.is_encoded : member.is_sealed))
        hosts.add(member.part.host);
  return hosts.text();
}

SetProtection::Row SetProtection::row(Time now) const {
  Row row{.id = id_,
          .groups = static_cast<uint32_t>(groups_.size()),
          .members = members_.size(),
          .encoded = encoded_,
          .sealed = sealed_,
          .lost = lost_,
          .attempts = attempts_,
          .sent_bytes = sent_bytes_,
          .cpu_us = cpu_us_};
  for (const Member& member : members_) row.bytes += member.part.bytes;
  for (const Group& group : groups_) row.parity_bytes += group.chunk * group.losses * group.members.size();
  row.seconds = std::chrono::duration<double>(now - encoding_since_).count();
  return row;
}

}  // namespace forebay::job
