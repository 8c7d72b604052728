// The caches, as a tier (decision 0037): complete sets in the stages, which a restart begins from where they are. A set
// of this tier is checked and repaired first (cache_recovery.h). When the ranks that ask are then where their files
// are, it is in place. When not, it goes by the store: it is stored, unless it is there, and the store's tier brings
// it. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "job/coordinator/cache_recovery.h"
#include "job/coordinator/cached_sets.h"
#include "job/coordinator/tier.h"

namespace forebay::job {

class CacheTier final : public Tier {
 public:
  // Both outlive it. `recovery` knows the agents, and is used by others only while this has no set to prepare.
  CacheTier(CachedSets& caches, CacheRecovery& recovery) : caches_(&caches), recovery_(&recovery) {}

  const char* step() const override { return "caches"; }
  void ask(Time, TierNeeds&) override {}
  void forget() override;
  std::optional<TierAnswer> answer(Time now, TierNeeds& needs) override;
  void prepare(const TierSet& set, const Askers& askers, Time now) override;
  std::optional<Prepared> prepared(Time now) override;
  void misplaced(SessionId agent, const TierSet& set) override;
  std::vector<Delivery> deliveries(const TierSet&, const Askers&) const override { return {}; }
  wire::TaskT task(const TierSet&, const Delivery&, const Askers&) const override { return {}; }

  // Whether a set is prepared: then what the recovery asks for and how it ends is this tier's.
  bool is_preparing() const { return state_ != State::idle; }
  void recovered(CacheRecovery::Ended ended);
  // How the set has ended that was to be stored. `why`: it is not stored; empty: it is.
  void stored(const std::string& set, const std::string& why);

  // What is to be done since the last call.
  struct Actions {
    std::vector<CacheRecovery::Actions> recovery;
    std::optional<CachedSet> store;       // is to be drained
    std::optional<CachedSet> quarantine;  // is never to be restarted from again, for
    std::string reason;
  };
  Actions take() { return std::exchange(actions_, {}); }

 private:
  enum class State : uint8_t { idle, recovering, storing, known };

  bool is_in_place() const;
  bool can_be_in_place(const CachedSet& set) const;
  void end(Prepared prepared);

  CachedSets* caches_;
  CacheRecovery* recovery_;
  std::vector<CachedSet> sets_;  // of the last answer
  State state_ = State::idle;
  CachedSet set_;          // that is prepared
  uint32_t failures_ = 0;  // to store it, each with a part lost meanwhile that can be made again
  std::map<uint32_t, std::string> wanted_;
  uint32_t total_ = 0;  // ranks that ask
  Prepared prepared_;
  Actions actions_;
};

}  // namespace forebay::job
