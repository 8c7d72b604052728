// The stages of the nodes, as a tier. What lies complete there is newer than what the store has, and is on its way to
// it: this tier gives it by that way, so that it answers when nothing is under way any more, and has no sets of its own
// to deliver. Pure.
#pragma once

#include "job/coordinator/tier.h"

namespace forebay::job {

class StageTier final : public Tier {
 public:
  // As things are now: whether agents are still being asked what their stages hold, and whether there are sets that all
  // ranks have completed and that are neither durable nor given up.
  void observe(bool is_settling, bool has_undrained) {
    is_settling_ = is_settling;
    has_undrained_ = has_undrained;
  }

  const char* step() const override { return "gather"; }
  void ask(Time, TierNeeds& needs) override {
    is_asked_ = is_settling_ = true;
    needs.settle = true;
  }
  void forget() override { is_asked_ = false; }
  // Whatever had a part of a set that is not complete writes no more. The application may write it anew, and other
  // nodes may be faster at that than those whose parts are here: a set would be made of two attempts.
  std::optional<TierAnswer> answer(Time, TierNeeds& needs) override {
    if (!is_asked_ || is_settling_ || has_undrained_) return std::nullopt;
    is_asked_ = false;
    needs.void_incomplete = true;
    return TierAnswer{};
  }
  std::vector<Delivery> deliveries(const TierSet&, const Askers&) const override { return {}; }
  wire::TaskT task(const TierSet&, const Delivery&, const Askers&) const override { return {}; }

 private:
  bool is_asked_ = false, is_settling_ = false, has_undrained_ = false;
};

}  // namespace forebay::job
