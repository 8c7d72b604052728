#include "job/coordinator/cache_recovery.h"

#include <algorithm>
#include <functional>
#include <limits>

#include <fmt/format.h>

namespace forebay::job {
namespace {

constexpr uint32_t kMostFailures = 3;

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

CacheRecovery::Actions CacheRecovery::begin(const CachedSet& set, Agents agents, std::map<uint32_t, std::string> wanted,
                                            Time now) {
  Actions actions;
  set_ = set;
  agents_ = std::move(agents);
  wanted_ = std::move(wanted);
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

CacheRecovery::Actions CacheRecovery::cancel() {
  Actions actions;
  if (phase_ == Phase::repairing)
    for (const auto& [key, group] : waiting_)
      if (const SessionId to = session_of(key); to != 0) actions.tell.push_back({to, wire::CancelT{.id = number_}});
  phase_ = Phase::idle;
  waiting_.clear();
  return actions;
}

void CacheRecovery::end(Ended ended, Actions& actions) {
  phase_ = Phase::idle;
  waiting_.clear();
  actions.ended = std::move(ended);
}

void CacheRecovery::check(Time now, Actions& actions) {
  phase_ = Phase::checking;
  since_ = now;
  ++number_;
  waiting_.clear();
  bad_.clear();
  burden_.clear();
  repairing_.clear();
  for (const CachedGroup& group : caches_->groups(set_.name, set_.encoding))
    for (const CachedGroup::Member& member : group.members) {
      const SessionId to = member.holder.empty() ? 0 : session_of(member.holder);
      if (to == 0 || !waiting_.emplace(member.holder, 0).second) continue;
      wire::CheckCachedT question;
      question.number = number_;
      question.set = set_.name;
      question.id = set_.encoding;
      actions.tell.push_back({to, std::move(question)});
    }
  if (waiting_.empty()) plan(now, actions);
}

CacheRecovery::Actions CacheRecovery::checked(const std::string& agent, const wire::CachedCheckedT& answer, Time now) {
  Actions actions;
  if (phase_ != Phase::checking || answer.number != number_ || waiting_.erase({agent, 0}) == 0) return actions;
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
  if (waiting_.empty()) plan(now, actions);
  return actions;
}

// Who takes a lost position.
std::string CacheRecovery::receiver_of(const CachedGroup& group, uint32_t position) const {
  const CachedGroup::Member& member = group.members[position];
  std::set<std::string> askers;
  for (const uint32_t rank : member.ranks)
    if (const auto asker = wanted_.find(rank); asker != wanted_.end()) askers.insert(asker->second);
  if (askers.size() == 1 && agents_.contains(*askers.begin()) && !avoided_.contains(*askers.begin()))
    return *askers.begin();
  const auto cost = [&](const std::string& key) {
    const bool is_member = std::ranges::any_of(group.members, [&](const auto& one) { return one.holder == key; });
    const auto burden = burden_.find(key);
    return std::pair(is_member, burden == burden_.end() ? 0 : burden->second);
  };
  const std::string* best = nullptr;
  for (const auto& [key, agent] : agents_)
    if (!avoided_.contains(key) && (best == nullptr || cost(key) < cost(*best))) best = &key;
  return best == nullptr ? std::string() : *best;
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
    const std::string receiver = receiver_of(group, position);
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
  phase_ = Phase::repairing;
  since_ = now;
  for (uint32_t i = 0; i < groups.size(); ++i)
    if (!plans[i].lost.empty() || !plans[i].bad.empty()) repair(i, groups.size(), groups[i], plans[i], actions);
  if (!waiting_.empty())
    actions.log.info(
        fmt::format("set {} is repaired: {} lost members, {} damaged pieces", set_.name, lost_, bad_pieces_));
  seal_if_repaired(now, actions);
}

void CacheRecovery::repair(uint32_t number, size_t groups, const CachedGroup& group, const Plan& plan,
                           Actions& actions) {
  std::map<std::string, std::vector<uint32_t>> roles;  // positions, by agent
  wire::RepairT order;
  order.number = number_;
  order.id = set_.encoding;
  order.set = set_.name;
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
    waiting_.emplace(key, number);
    actions.tell.push_back({session_of(key), std::move(own)});
  }
}

CacheRecovery::Actions CacheRecovery::repaired(const std::string& agent, const wire::RepairedT& answer, Time now) {
  Actions actions;
  if (phase_ != Phase::repairing || answer.number != number_ || waiting_.erase({agent, answer.group}) == 0)
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
  if (phase_ != Phase::repairing || !waiting_.empty()) return;
  const auto groups = caches_->groups(set_.name, set_.encoding);
  for (const CachedGroup& group : groups)
    for (const CachedGroup::Member& member : group.members)
      if (member.holder.empty()) return;
  phase_ = Phase::sealing;
  since_ = now;
  for (const CachedGroup& group : groups)
    for (const CachedGroup::Member& member : group.members) {
      if (member.is_sealed || !waiting_.emplace(member.holder, 0).second) continue;
      wire::SealT seal;
      seal.id = set_.encoding;
      seal.set = set_.name;
      actions.tell.push_back({session_of(member.holder), std::move(seal)});
    }
  if (waiting_.empty()) end({.is_whole = true, .why = {}}, actions);
}

CacheRecovery::Actions CacheRecovery::sealed(const std::string& agent, const wire::SealedT& answer, Time now) {
  Actions actions;
  if (phase_ != Phase::sealing || answer.id != set_.encoding || waiting_.erase({agent, 0}) == 0) return actions;
  if (answer.failed)
    again(fmt::format("{} could not seal it: {}", agents_.at(agent).host, answer.error), true, now, actions);
  else if (waiting_.empty())
    end({.is_whole = true, .why = {}}, actions);
  return actions;
}

CacheRecovery::Actions CacheRecovery::joined(const std::string& key, Agent agent) {
  if (phase_ != Phase::idle) agents_[key] = std::move(agent);
  return {};
}

CacheRecovery::Actions CacheRecovery::left(const std::string& agent, Time now) {
  Actions actions;
  if (phase_ == Phase::idle || agents_.erase(agent) == 0) return actions;
  const auto is_its = [&](const auto& one) { return one.first == agent; };
  if (phase_ == Phase::checking) {
    std::erase_if(waiting_, is_its);
    if (waiting_.empty()) plan(now, actions);
    return actions;
  }
  const bool takes_part = std::ranges::any_of(repairing_, [&](const auto& one) { return one.second == agent; }) ||
                          std::ranges::any_of(waiting_, is_its);
  const auto now_there = caches_->find(set_.name, set_.write, set_.encoding);
  std::erase_if(waiting_, is_its);
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
  for (const auto& [key, group] : waiting_)
    if (const SessionId to = session_of(key); phase_ == Phase::repairing && to != 0)
      actions.tell.push_back({to, wire::CancelT{.id = number_}});
  if (counts && ++failures_ >= kMostFailures) return end({.is_whole = false, .why = why, .is_damaged = false}, actions);
  actions.log.warn(fmt::format("set {}: its repair begins anew: {}", set_.name, why));
  check(now, actions);
}

CacheRecovery::Actions CacheRecovery::tick(Time now) {
  Actions actions;
  if (phase_ == Phase::idle || now - since_ < timeout_) return actions;
  if (phase_ != Phase::checking) {
    again(fmt::format("{} answers were not there in time", std::max<size_t>(waiting_.size(), 1)), true, now, actions);
    return actions;
  }
  for (const auto& [key, group] : std::exchange(waiting_, {})) {
    actions.log.warn(
        fmt::format("set {}: {} did not check what it has of it in time", set_.name, agents_.at(key).host));
    caches_->distrust(key, set_.name, set_.encoding);
  }
  plan(now, actions);
  return actions;
}

CacheRecovery::Row CacheRecovery::row() const {
  return {.set = set_.name,
          .phase = phase_,
          .waiting = waiting_.size(),
          .bad_pieces = bad_pieces_,
          .lost = lost_,
          .repaired_bytes = repaired_bytes_};
}

}  // namespace forebay::job
