#include "job/coordinator/cache_recovery.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

#include <fmt/format.h>

namespace forebay::job {
namespace {

// Whether more pieces of one row are bad, with `lost` members that have none, than can be computed from the others.
bool is_too_bad(const std::vector<wire::BadPiecesT>& bad, size_t lost, uint32_t losses) {
  // Where runs of bad pieces of a row begin (+1) and end (-1); those of one position may overlap each other.
  std::map<uint32_t, std::map<uint32_t, std::vector<std::pair<uint64_t, uint64_t>>>> rows;
  for (const wire::BadPiecesT& run : bad) rows[run.row][run.position].emplace_back(run.first, run.first + run.count);
  for (auto& [row, positions] : rows) {
    std::map<uint64_t, int64_t> edges;
    for (auto& [position, runs] : positions) {
      std::ranges::sort(runs);
      uint64_t end = 0;
      for (const auto& [first, past] : runs) {
        if (past <= end) continue;
        ++edges[std::max(first, end)];
        --edges[past];
        end = past;
      }
    }
    int64_t count = static_cast<int64_t>(lost);
    for (const auto& [piece, change] : edges)
      if ((count += change) > static_cast<int64_t>(losses)) return true;
  }
  return false;
}

}  // namespace

CacheRecovery::Actions CacheRecovery::begin(const CachedSet& set, std::map<uint32_t, std::string> wanted, Time now) {
  Actions actions;
  set_ = set;
  wanted_ = std::move(wanted);
  since_ = now;
  failures_ = 0;
  avoided_.clear();
  is_damaged_ = false;
  bad_pieces_ = lost_ = repaired_bytes_ = 0;
  if (set_.encoding == 0) {  // nothing to check it against
    end({.is_whole = true, .why = {}}, actions);
    return actions;
  }
  check(now, actions);
  return actions;
}

SessionId CacheRecovery::session_of(const std::string& key) const {
  const auto found = agents_.find(key);
  return found == agents_.end() ? 0 : found->second.session;
}

std::string CacheRecovery::key_of(SessionId session) const {
  const auto found = std::ranges::find(agents_, session, [](const auto& one) { return one.second.session; });
  return found == agents_.end() ? std::string() : found->first;
}

CacheRecovery::Actions CacheRecovery::cancel() {
  Actions actions;
  end_order(actions);
  return actions;
}

void CacheRecovery::begin_order(OrderKind kind, Time now) { order_ = Order(kind, order_.number() + 1, now, timeout_); }

// The repairing agents hear that it is over.
void CacheRecovery::end_order(Actions& actions) {
  if (order_.is(OrderKind::repair))
    for (const Order::Asked& one : order_.asked())
      if (one.state == Order::Asked::State::waiting)
        actions.tell.push_back({one.session, wire::CancelT{.id = order_.number()}});
  order_.end();
}

void CacheRecovery::end(Ended ended, Actions& actions) {
  end_order(actions);
  actions.ended = std::move(ended);
}

void CacheRecovery::check(Time now, Actions& actions) {
  begin_order(OrderKind::check, now);
  bad_.clear();
  burden_.clear();
  repairing_.clear();
  for (const CachedGroup& group : caches_->groups(set_.name, set_.encoding))
    for (const CachedGroup::Member& member : group.members) {
      const SessionId to = member.holder.empty() ? 0 : session_of(member.holder);
      if (to == 0 || !order_.ask(to, agents_.at(member.holder).host)) continue;
      wire::CheckCachedT question;
      question.number = order_.number();
      question.set = set_.name;
      question.id = set_.encoding;
      actions.tell.push_back({to, std::move(question)});
    }
  if (order_.state() == Order::State::done) plan(now, actions);
}

CacheRecovery::Actions CacheRecovery::checked(const std::string& agent, const wire::CachedCheckedT& answer, Time now) {
  Actions actions;
  if (!is_open() || !order_.answered({.kind = OrderKind::check,
                                      .number = answer.number,
                                      .from = session_of(agent),
                                      .has_failed = answer.failed,
                                      .why = answer.error}))
    return actions;
  const std::string& host = agents_.at(agent).host;
  if (answer.failed) {
    actions.log.warn(fmt::format("set {}: what {} has of it cannot be checked: {}", set_.name, host, answer.error));
    caches_->distrust(agent, set_.name, set_.encoding);
    is_damaged_ = true;
  }
  for (const auto& run : answer.bad) {
    if (answer.failed) break;
    is_damaged_ = true;
    bad_pieces_ += run->count;
    actions.log.warn(fmt::format("set {}: {} pieces of row {} on {} are damaged, from piece {}", set_.name, run->count,
                                 run->row, host, run->first));
    bad_[run->group].push_back(*run);
  }
  if (order_.state() == Order::State::done) plan(now, actions);
  return actions;
}

// Who takes a lost position: never a node that has another one of the group, as long as there is one that has not, lest
// the next loss takes both; of these the one whose ranks it is; or else one that has little.
std::string CacheRecovery::receiver_of(const CachedGroup& group, uint32_t position, const Plan& plan) const {
  std::set<std::string> taken, askers;
  for (uint32_t i = 0; i < group.members.size(); ++i) {
    const auto receiver = plan.receivers.find(i);
    const auto agent = agents_.find(receiver == plan.receivers.end() ? group.members[i].holder : receiver->second);
    if (agent != agents_.end()) taken.insert(agent->second.node);
  }
  for (const uint32_t rank : group.members[position].ranks)
    if (const auto asker = wanted_.find(rank); asker != wanted_.end()) askers.insert(asker->second);
  const auto cost = [&](const auto& one) {
    const bool is_asker = askers.size() == 1 && askers.contains(one.first);
    const auto burden = burden_.find(one.first);
    return std::tuple(taken.contains(one.second.node), !is_asker, burden == burden_.end() ? 0 : burden->second);
  };
  std::string best;
  for (const auto& one : agents_)
    if (!avoided_.contains(one.first) && (best.empty() || cost(one) < cost(*agents_.find(best)))) best = one.first;
  return best;
}

std::string CacheRecovery::plan_group(uint32_t number, const CachedGroup& group, Plan& plan) {
  if (group.members.empty()) return fmt::format("nobody of its protection group {} is there", number);
  for (uint32_t i = 0; i < group.members.size(); ++i) {
    const std::string& holder = group.members[i].holder;
    if (holder.empty() || session_of(holder) == 0) plan.lost.push_back(i);
  }
  if (plan.lost.size() > group.losses)
    return fmt::format("protection group {} has lost {} of {} members, and survives {}", number, plan.lost.size(),
                       group.members.size(), group.losses);
  for (wire::BadPiecesT& run : bad_[number])
    if (run.position < group.members.size() && !std::ranges::binary_search(plan.lost, run.position))
      plan.bad.push_back(std::move(run));
  if (is_too_bad(plan.bad, plan.lost.size(), group.losses))
    return fmt::format("more pieces of a row of protection group {} are damaged or lost than the {} that it survives",
                       number, group.losses);
  for (const uint32_t position : plan.lost) {
    const std::string receiver = receiver_of(group, position, plan);
    if (receiver.empty()) return "no agent is there that could take what was lost";
    ++burden_[receiver];
    plan.receivers[position] = receiver;
  }
  return {};
}

// All have been checked.
void CacheRecovery::plan(Time now, Actions& actions) {
  const auto groups = caches_->groups(set_.name, set_.encoding);
  std::vector<Plan> plans(groups.size());
  if (groups.empty()) return end({.is_whole = false, .why = "nobody has any of it", .is_damaged = false}, actions);
  lost_ = 0;
  for (uint32_t i = 0; i < groups.size(); ++i) {
    if (std::string why = plan_group(i, groups[i], plans[i]); !why.empty())
      return end({.is_whole = false, .why = std::move(why), .is_damaged = is_damaged_}, actions);
    lost_ += plans[i].lost.size();
  }
  begin_order(OrderKind::repair, now);
  for (uint32_t i = 0; i < groups.size(); ++i)
    if (!plans[i].lost.empty() || !plans[i].bad.empty()) repair(i, groups.size(), groups[i], plans[i], actions);
  if (order_.waiting() > 0)
    actions.log.info(
        fmt::format("set {} is repaired: {} lost members, {} damaged pieces", set_.name, lost_, bad_pieces_));
  seal_if_repaired(now, actions);
}

void CacheRecovery::repair(uint32_t number, size_t groups, const CachedGroup& group, const Plan& plan,
                           Actions& actions) {
  std::map<std::string, std::vector<uint32_t>> roles;  // positions, by agent
  wire::RepairT order;
  order.number = order_.number();
  order.id = set_.encoding;
  order.set = set_.name;
  order.ordinal = set_.ordinal;
  order.group = number;
  order.groups = static_cast<uint32_t>(groups);
  order.losses = group.losses;
  order.chunk = group.chunk;
  order.lost = plan.lost;
  for (uint32_t i = 0; i < group.members.size(); ++i) {
    const CachedGroup::Member& member = group.members[i];
    const auto receiver = plan.receivers.find(i);
    const bool is_lost = receiver != plan.receivers.end();
    const std::string& key = is_lost ? receiver->second : member.holder;
    const Agent& agent = agents_.at(key);
    roles[key].push_back(i);
    repairing_[{number, i}] = key;
    auto& one = *order.members.emplace_back(std::make_unique<wire::MemberT>());
    one.host = agent.host;
    one.node = agent.node;
    one.addresses = agent.addresses;
    one.stage = agent.stage;
    one.data = is_lost ? 0 : member.data;
    one.parity = is_lost ? 0 : member.parity;
    one.bytes = member.bytes;
    one.ranks = member.ranks;
  }
  for (const wire::BadPiecesT& run : plan.bad) order.bad.push_back(std::make_unique<wire::BadPiecesT>(run));
  for (auto& [key, positions] : roles) {
    wire::RepairT own = order;
    own.self = positions;
    order_.ask(session_of(key), agents_.at(key).host, number);
    actions.tell.push_back({session_of(key), std::move(own)});
  }
}

CacheRecovery::Actions CacheRecovery::repaired(const std::string& agent, const wire::RepairedT& answer, Time now) {
  Actions actions;
  if (!is_open() || !order_.answered({.kind = OrderKind::repair,
                                      .number = answer.number,
                                      .from = session_of(agent),
                                      .part = answer.group,
                                      .has_failed = answer.failed,
                                      .why = answer.error}))
    return actions;
  if (!answer.failed) {
    repaired_bytes_ += answer.bytes;
    seal_if_repaired(now, actions);
    return actions;
  }
  const auto fault = repairing_.find({answer.group, answer.fault});
  const std::string& culprit = fault == repairing_.end() ? agent : fault->second;
  avoided_.insert(culprit);
  again(fmt::format("{} says of {}: {}", agents_.at(agent).host,
                    agents_.contains(culprit) ? agents_.at(culprit).host : "an agent that is gone", answer.error),
        true, now, actions);
  return actions;
}

// When nothing is asked any more, and what was repaired is offered.
void CacheRecovery::seal_if_repaired(Time now, Actions& actions) {
  if (!order_.is(OrderKind::repair) || order_.state() != Order::State::done) return;
  const auto groups = caches_->groups(set_.name, set_.encoding);
  for (const CachedGroup& group : groups)
    for (const CachedGroup::Member& member : group.members)
      if (member.holder.empty()) return;
  begin_order(OrderKind::seal, now);
  for (const CachedGroup& group : groups)
    for (const CachedGroup::Member& member : group.members) {
      const SessionId to = session_of(member.holder);
      if (member.is_sealed || !order_.ask(to, member.host)) continue;
      wire::SealT seal;
      seal.id = set_.encoding;
      seal.set = set_.name;
      actions.tell.push_back({to, std::move(seal)});
    }
  if (order_.state() == Order::State::done) end({.is_whole = true, .why = {}}, actions);
}

CacheRecovery::Actions CacheRecovery::sealed(const std::string& agent, const wire::SealedT& answer, Time now) {
  Actions actions;
  if (!is_open() || answer.id != set_.encoding ||
      !order_.answered({.kind = OrderKind::seal,
                        .number = order_.number(),
                        .from = session_of(agent),
                        .has_failed = answer.failed,
                        .why = answer.error}))
    return actions;
  if (answer.failed)
    again(fmt::format("{} could not seal it: {}", agents_.at(agent).host, answer.error), true, now, actions);
  else if (order_.state() == Order::State::done)
    end({.is_whole = true, .why = {}}, actions);
  return actions;
}

CacheRecovery::Actions CacheRecovery::left(const std::string& agent, Time now) {
  Actions actions;
  const SessionId session = session_of(agent);
  if (agents_.erase(agent) == 0 || !is_open()) return actions;
  const bool takes_part = order_.lost(session);
  if (order_.is(OrderKind::check)) {
    if (order_.state() == Order::State::done) plan(now, actions);
    return actions;
  }
  const auto now_there = caches_->find(set_.name, set_.write, set_.encoding);
  if (takes_part || !now_there || now_there->lost > 0) again("an agent was lost meanwhile", false, now, actions);
  return actions;
}

CacheRecovery::Actions CacheRecovery::changed(Time now) {
  Actions actions;
  seal_if_repaired(now, actions);
  return actions;
}

// What is left is looked at from the beginning.
void CacheRecovery::again(const std::string& why, bool counts, Time now, Actions& actions) {
  end_order(actions);
  if (counts && ++failures_ >= rule_of(OrderKind::repair).most_failures)
    return end({.is_whole = false, .why = why, .is_damaged = false}, actions);
  actions.log.warn(fmt::format("set {}: its repair begins anew: {}", set_.name, why));
  check(now, actions);
}

CacheRecovery::Actions CacheRecovery::tick(Time now) {
  Actions actions;
  if (!order_.is_late(now)) return actions;
  if (!order_.is(OrderKind::check)) {
    again(fmt::format("{} answers were not there in time", std::max<size_t>(order_.waiting(), 1)), true, now, actions);
    return actions;
  }
  for (const Order::Asked& one : order_.asked()) {
    if (one.state != Order::Asked::State::waiting) continue;
    actions.log.warn(fmt::format("set {}: {} did not check what it has of it in time", set_.name, one.name));
    caches_->distrust(key_of(one.session), set_.name, set_.encoding);
  }
  plan(now, actions);
  return actions;
}

CacheRecovery::Row CacheRecovery::row() const {
  return {.set = set_.name,
          .order = rule_of(order_.kind()).name,
          .waiting = order_.waiting(),
          .waits_for = order_.who_is_waited_for(),
          .bad_pieces = bad_pieces_,
          .lost = lost_,
          .repaired_bytes = repaired_bytes_,
          .since = since_};
}

}  // namespace forebay::job
