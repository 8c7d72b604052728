// The store, as a tier: the sets of the job's series, whose containers workers decode and deliver. Pure.
#pragma once

#include <string>
#include <unordered_map>

#include "job/coordinator/retry.h"
#include "job/coordinator/tier.h"

namespace forebay::job {

class StoreTier final : public Tier {
 public:
  explicit StoreTier(std::string series) : series_(std::move(series)) {}

  // The answer to a ListSets that this tier has asked for; all of them, in order. answer() is to be called after it.
  void listed(ListedSets listed);

  // The set of that name was refused: from now on it cannot be brought. False if it was refused before.
  bool refuse(const std::string& set, const std::string& reason) { return refused_.emplace(set, reason).second; }

  // The sets of the series that no restart takes, and why: those that were refused, and those that the store had set
  // aside when it was asked last.
  const std::unordered_map<std::string, std::string>& refused() const { return refused_; }

  const char* step() const override { return "list"; }
  // An error of the store is tried again, with growing pauses.
  void ask(Time now, TierNeeds& needs) override;
  void forget() override { state_ = State::idle; }
  std::optional<TierAnswer> answer(Time now, TierNeeds& needs) override;

  // A container each. If the set is of another number of ranks than ask, each asker gets all of them.
  std::vector<Delivery> deliveries(const TierSet& set, const Askers& askers) const override;
  wire::TaskT task(const TierSet& set, const Delivery& delivery, const Askers& askers) const override;

 private:
  enum class State : uint8_t { idle, asked, listed, pausing };

  void list(TierNeeds& needs);
  TierAnswer take(std::vector<store::SetInfo> sets, LogLines& log);

  std::string series_;
  State state_ = State::idle;
  uint64_t owed_ = 0;  // answers; only the last one counts
  std::optional<ListedSets> listed_;
  Retry retry_;
  std::unordered_map<std::string, std::string> refused_;  // reasons, by name
  std::unordered_map<std::string, store::SetInfo> sets_;  // of the last answer that can be delivered, by name
};

}  // namespace forebay::job
