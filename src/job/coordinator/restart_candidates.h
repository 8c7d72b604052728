// The sets that a restart round may take, of all tiers, and which is the next one. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job/coordinator/tier.h"
#include "store/set_order.h"

namespace forebay::job {

class RestartCandidates {
 public:
  struct Candidate {
    size_t tier = 0;
    TierSet set;
    std::vector<TierSet> passed{};  // newer ones that are suspect, and are left for later; each is told once
  };

  void clear() { all_.clear(); }
  // What a tier has answered; tiers in their order.
  void add(size_t tier, std::vector<TierSet> sets);

  // When all are added: the newest becomes the next. Of one set that several tiers have, that of the first tier counts
  // as the newest, and all of them are ordered as the last tier says, which is the store.
  void order();
  // After order(): sets that are newer than this one, by either of its names, are left out. It need not be there: then
  // the steps of sets, or the numbers at the ends of names, tell.
  void leave_newer_out(const std::string& newest);

  bool empty() const { return all_.empty(); }
  // Of some: the newest that is not suspect, or if all are, the newest.
  Candidate take_newest();

 private:
  struct Ranked {
    Candidate candidate;
    size_t index = 0;  // in the order of add()
    std::optional<int64_t> step;
    store::Age age;
    bool is_told = false;  // in Candidate::passed
  };
  std::vector<Ranked> all_;  // oldest first, after order()
};

}  // namespace forebay::job
