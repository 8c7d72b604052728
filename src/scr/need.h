// Whether a checkpoint is due (SCR_Need_checkpoint). Pure.
#pragma once

#include <cstdint>

namespace forebay::scr {

struct NeedRules {
  int64_t interval = 0;  // every so many calls
  double seconds = 0;    // since the last one
  double overhead = 0;   // percent of the run time that checkpoints may take
  bool any() const { return interval > 0 || seconds > 0 || overhead > 0; }
};

struct NeedFacts {
  int64_t calls = 0;       // of SCR_Need_checkpoint, with this one
  double since_last = 0;   // seconds since the last checkpoint ended, or the start
  double running = 0;      // seconds since the start
  double checkpoints = 0;  // seconds that all checkpoints took
  int64_t count = 0;       // of them
};

// Where no rule is set, always.
inline bool need_checkpoint(const NeedRules& rules, const NeedFacts& facts) {
  if (!rules.any()) return true;
  if (rules.interval > 0 && facts.calls % rules.interval == 0) return true;
  if (rules.seconds > 0 && facts.since_last >= rules.seconds) return true;
  if (rules.overhead <= 0) return false;
  if (facts.count == 0) return true;
  const double next = facts.checkpoints / static_cast<double>(facts.count);
  return facts.checkpoints + next <= rules.overhead / 100 * (facts.running + next);
}

}  // namespace forebay::scr
