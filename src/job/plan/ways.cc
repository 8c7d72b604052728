#include "job/plan/ways.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace forebay::job {
namespace {

// Groups of `members` that survive `losses`.
struct PlannedScheme {
  const char* name;
  double members = 1, losses = 0;
};
constexpr std::array kPlannedSchemes{PlannedScheme{"none", 1, 0}, PlannedScheme{"partner", 2, 1},
                                     PlannedScheme{"xor:8", 8, 1}, PlannedScheme{"rs:2:8", 8, 2}};

// Until a set is in the store, or read back from it, by the compute nodes themselves.
double store_seconds(const PlanInput& plan) {
  return std::max(plan.node_bytes / plan.ratio / plan.node_network, plan.set_bytes() / plan.ratio / plan.pfs);
}

IntervalInput costs_of(const WaysInput& input, const PlannedScheme& scheme) {
  const double bytes = input.plan.node_bytes, all = 1 / input.mtbf();
  const double chunks = scheme.members - scheme.losses;
  // Row leaders send (n-1)/(n-m) bytes for each byte; what is rebuilt passes the survivors' links n/(n-m) times.
  const double sent = scheme.losses == 0 ? 0 : (scheme.members - 1) / chunks;
  const double rebuilt = scheme.losses == 0 ? 0 : scheme.members / chunks;
  IntervalInput costs;
  costs.cost = bytes / input.stage + sent * bytes / input.peers;
  costs.flush = store_seconds(input.plan);
  costs.drain = plan_drain(input.plan, input.aggregator_nodes).drain_seconds;
  costs.slowdown = input.slowdown;
  costs.cache_recovery = input.recovery + bytes / input.stage + rebuilt * bytes / input.peers;
  costs.store_recovery = input.recovery + costs.flush;
  // Before what was lost is rebuilt, so many more of the group's nodes must not fail.
  const double window = costs.cache_recovery + costs.cost;
  double too_many = 1;
  for (double i = 0; i < scheme.losses; ++i)
    too_many *= std::min(1.0, (scheme.members - 1 - i) / (i + 1) * window / input.node_mtbf);
  costs.store_rate = all * (input.severe + (1 - input.severe) * too_many);
  costs.cache_rate = all - costs.store_rate;
  return costs;
}

}  // namespace

Result<void> check(const WaysInput& input) {
  const auto wrong = [](const char* what, const char* hint) {
    return fail(ErrorKind::invalid_argument, what, {}, {}, hint);
  };
  if (!(input.node_mtbf > 0)) return wrong("the time between failures of a node must be above 0", "");
  if (!(input.severe >= 0 && input.severe <= 1)) return wrong("the part of severe failures must be a part", "");
  if (!(input.slowdown >= 0 && input.slowdown < 1)) return wrong("the slowdown must be a part of the speed", "");
  if (std::isinf(input.stage)) return wrong("what a set costs in the stage is not known", "give --stage");
  if (std::isinf(input.peers))
    return wrong("what it costs to protect a set is not known", "give --peers or --node-network");
  if (store_seconds(input.plan) == 0)
    return wrong("how fast compute nodes reach the store is not known", "give --pfs or --node-network");
  return {};
}

std::vector<Way> compare_ways(const WaysInput& input) {
  std::vector<Way> ways;
  const IntervalInput plain = costs_of(input, kPlannedSchemes[0]);
  ways.push_back({.kind = Way::Kind::store_only,
                  .scheme = {},
                  .cost = plain.flush,
                  .survived = 0,
                  .advice = best_one_level(plain)});
  for (const Way::Kind kind : {Way::Kind::waiting, Way::Kind::background})
    for (const PlannedScheme& scheme : kPlannedSchemes) {
      if (scheme.members > static_cast<double>(input.plan.nodes)) continue;
      const IntervalInput costs = costs_of(input, scheme);
      ways.push_back({.kind = kind,
                      .scheme = scheme.name,
                      .cost = costs.cost,
                      .survived = costs.cache_rate * input.mtbf(),
                      .advice = kind == Way::Kind::waiting ? best_two_levels(costs) : best_background(costs)});
    }
  return ways;
}

}  // namespace forebay::job
