// Ways to keep checkpoints, compared: to the store only, or in caches that nodes protect for each other, of which some
// go to the store, with the application waiting or in the background. The model of docs/plan.md, "How often?". Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "job/plan/interval_model.h"
#include "job/plan/plan_model.h"

namespace forebay::job {

struct WaysInput {
  PlanInput plan;                 // nodes, bytes, ratio and rates
  uint64_t aggregator_nodes = 1;  // that drain in the background
  double node_mtbf = 0;           // seconds between failures of one compute node
  double severe = 0.15;           // part of the failures that no cache survives
  double stage = kUnlimited;      // what a compute node writes into its stage, bytes per second
  double peers = kUnlimited;      // and sends to others
  double recovery = 60;           // seconds until the application computes again, without what is read or rebuilt
  double slowdown = 0.01;         // part of its speed that it loses while a set is drained

  double mtbf() const { return node_mtbf / static_cast<double>(plan.nodes); }  // of the job
};

// invalid_argument, with what is missing or makes no sense. `plan` passes check() already.
Result<void> check(const WaysInput& input);

struct Way {
  enum class Kind : uint8_t { store_only, waiting, background };
  Kind kind{};
  std::string scheme;   // "none", "partner", "xor:8", "rs:2:8"; empty with store_only
  double cost = 0;      // seconds of a set that does not go to the store
  double survived = 0;  // part of the failures after which the job goes on from caches
  IntervalAdvice advice;
};

// Store only first, then all schemes waiting, then all in the background. `input` passes check().
std::vector<Way> compare_ways(const WaysInput& input);

}  // namespace forebay::job
