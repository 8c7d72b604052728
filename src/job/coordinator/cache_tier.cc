#include "job/coordinator/cache_tier.h"

#include <set>

namespace forebay::job {
namespace {

constexpr uint32_t kMostFailures = 3;

}  // namespace

void CacheTier::forget() {
  if (state_ == State::recovering) actions_.recovery.push_back(recovery_->cancel());
  state_ = State::idle;
}

std::optional<TierAnswer> CacheTier::answer(Time, TierNeeds&) {
  TierAnswer answer;
  sets_ = caches_->sets();
  for (size_t i = 0; i < sets_.size(); ++i) {
    const CachedSet& set = sets_[i];
    answer.sets.push_back({.name = set.name,
                           .application_name = set.name,
                           .step = set.step,
                           .ordinal = set.ordinal,
                           .time_ns = set.time_ns,
                           .ranks = set.ranks,
                           .stored_as = set.stored_as,
                           .number = i,
                           .wrong = set.wrong});
    // What the store has is no loss.
    if (!set.wrong.empty() && !set.stored_as.empty()) answer.sets.pop_back();
  }
  return answer;
}

void CacheTier::prepare(const TierSet& set, const Askers& askers, Time now) {
  const CachedSet& next = sets_.at(set.number);
  if (next.name != set_.name || next.write != set_.write) failures_ = 0;
  set_ = next;
  wanted_.clear();
  std::map<SessionId, std::string> keys;
  for (const auto& [key, agent] : recovery_->agents()) keys.emplace(agent.session, key);
  total_ = static_cast<uint32_t>(askers.by_rank.size());
  for (uint32_t rank = 0; rank < total_; ++rank)
    if (const auto key = keys.find(askers.by_rank[rank]); key != keys.end()) wanted_.emplace(rank, key->second);
  if (!set_.stored_as.empty() && !can_be_in_place(set_)) return end({.how = Prepared::How::leave});
  state_ = State::recovering;
  CacheRecovery::Actions actions = recovery_->begin(set_, wanted_, now);
  const auto ended = std::exchange(actions.ended, std::nullopt);
  actions_.recovery.push_back(std::move(actions));
  if (ended) recovered(*ended);
}

void CacheTier::end(Prepared prepared) {
  prepared_ = std::move(prepared);
  state_ = State::known;
}

std::optional<Prepared> CacheTier::prepared(Time) {
  if (state_ != State::known) return std::nullopt;
  state_ = State::idle;
  return std::move(prepared_);
}

void CacheTier::misplaced(SessionId agent, const TierSet& set) {
  const std::string key = recovery_->key_of(agent);
  if (!key.empty() && set.name == set_.name) caches_->distrust(key, set_.name, set_.encoding);
}

void CacheTier::recovered(CacheRecovery::Ended ended) {
  if (state_ != State::recovering) return;
  if (!ended.is_whole) {
    if (ended.is_damaged) {
      actions_.quarantine = set_;
      actions_.reason = ended.why;
    }
    return end({.how = Prepared::How::pass_over, .why = std::move(ended.why)});
  }
  if (is_in_place()) return end({.how = Prepared::How::in_place, .encoding = set_.encoding});
  if (!set_.stored_as.empty()) return end({.how = Prepared::How::leave});
  state_ = State::storing;
  actions_.store = set_;
}

void CacheTier::stored(const std::string& set, const std::string& why) {
  if (state_ != State::storing || set != set_.name) return;
  if (why.empty()) return end({.how = Prepared::How::again});
  // What was lost while it was stored is made again, as at the end of a job.
  const auto left = caches_->find(set_.name, set_.write, set_.encoding);
  if (left && left->wrong.empty() && left->lost > 0 && ++failures_ < kMostFailures)
    return end({.how = Prepared::How::again});
  end({.how = Prepared::How::pass_over, .why = "it had to be stored, since its ranks are elsewhere now: " + why});
}

// Each rank asks where its files are.
bool CacheTier::is_in_place() const {
  if (set_.ranks != total_) return false;
  std::set<uint32_t> there;
  if (set_.encoding != 0) {
    for (const CachedGroup& group : caches_->groups(set_.name, set_.encoding))
      for (const CachedGroup::Member& member : group.members)
        for (const uint32_t rank : member.ranks) {
          const auto asker = wanted_.find(rank);
          if (asker != wanted_.end() && asker->second == member.holder) there.insert(rank);
        }
  } else {
    for (const auto& [key, part] : caches_->parts(set_.name, set_.write))
      for (const uint32_t rank : part->ranks) {
        const auto asker = wanted_.find(rank);
        if (asker != wanted_.end() && asker->second == key) there.insert(rank);
      }
  }
  return there.size() == total_;
}

// As is_in_place(), when what is lost has been repaired.
bool CacheTier::can_be_in_place(const CachedSet& set) const {
  if (set.ranks != total_) return false;
  if (set.encoding == 0) return is_in_place();
  for (const CachedGroup& group : caches_->groups(set.name, set.encoding))
    for (const CachedGroup::Member& member : group.members) {
      std::string asker = member.holder;
      for (const uint32_t rank : member.ranks) {
        const auto wanted = wanted_.find(rank);
        if (wanted == wanted_.end()) return false;
        if (asker.empty()) asker = wanted->second;
        if (asker != wanted->second) return false;
      }
    }
  return true;
}

}  // namespace forebay::job
