// How often to write checkpoints, and how many of them to bring to the store: the models of docs/plan.md, "How often?".
// Times in seconds, rates in failures per second, of the whole job. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forebay::job {

// The best work between two checkpoints of one level, to the first order (Young) and the third (Daly). Both above 0.
double young_interval(double cost, double mtbf);
double daly_interval(double cost, double mtbf);
// The part of the time that is work (Daly).
double one_level_efficiency(double work, double cost, double mtbf, double recovery);

struct CheckpointLevel {
  double cost = 0;      // of a checkpoint of this level, all of it
  double rate = 0;      // of failures that need a checkpoint of this level at least
  double recovery = 0;  // from such a failure
};

// Of which level each checkpoint of a period is: counts[i] checkpoints of level i + 1 make one of level i + 2, which is
// the last of them. No count is 0.
std::vector<unsigned> level_pattern(std::span<const unsigned> counts);

// The part of the time that is work, exactly, where failures come at random and each brings the job back to the last
// checkpoint of its level or above. `escalate`: a failure during a recovery, of the same level, needs the next one.
// counts.size() + 1 levels, the lowest first; at least one rate is above 0.
double multilevel_efficiency(double work, std::span<const unsigned> counts, std::span<const CheckpointLevel> levels,
                             bool escalate = true);

// Two levels, of which the upper one is written in the background, to the first order.
struct BackgroundDrain {
  double work = 0, cost = 0;     // between two checkpoints, and of each
  unsigned every = 1;            // every so many are drained
  double drain = 0;              // seconds until such a set is in the store
  double slowdown = 0;           // part of the application's speed that is lost meanwhile
  CheckpointLevel cache, store;  // `cost` does not count
};
double background_efficiency(const BackgroundDrain& model);

// ---- advice

struct IntervalInput {
  double cost = 0;                        // of a set in the caches, protected
  double flush = 0;                       // to the store, while the application waits
  double drain = 0;                       // to the store, while it computes
  double slowdown = 0;                    // meanwhile
  double cache_rate = 0, store_rate = 0;  // of failures that the caches survive, and of others
  double cache_recovery = 0, store_recovery = 0;
};
struct IntervalAdvice {
  double work = 0;     // between two checkpoints
  unsigned every = 1;  // every so many go to the store
  double efficiency = 0;
};
// Checkpoints to the store only; in caches with some of them to the store, which the application waits for; or in the
// background. cost (of the first: flush) and the sum of the rates are above 0.
IntervalAdvice best_one_level(const IntervalInput& input);
IntervalAdvice best_two_levels(const IntervalInput& input);
IntervalAdvice best_background(const IntervalInput& input);

// What a running job has seen.
struct MeasuredRun {
  double seconds = 0;      // that it has run
  uint64_t failures = 0;   // after which it was started again
  double set_seconds = 0;  // that the application waited for a set
  double interval = 0;     // from one set to the next
};
struct RunAdvice {
  double interval = 0;    // that would be best
  double mtbf = 0;        // as far as can be told: with so few failures, half of one more is assumed
  double efficiency = 0;  // with the interval as it is
  double best_efficiency = 0;
};
// Nothing if there is too little to go by: no time, no set, no interval.
std::optional<RunAdvice> advise(const MeasuredRun& measured);

}  // namespace forebay::job
