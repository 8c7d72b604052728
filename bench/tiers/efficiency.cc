// A job that computes, writes sets, fails and restarts, second by second of its failures: which part of its time is
// work.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "job/plan/interval_model.h"
#include "job/plan/plan_model.h"
#include "job/plan/ways.h"
#include "tables.h"

namespace forebay::bench {
namespace {

enum class Kind { store_only, waiting, background };

struct Job {
  Kind kind{};
  double work = 0, cost = 0, flush = 0, drain = 0, slowdown = 0;  // seconds; the slowdown a part
  unsigned every = 1;
  double cache_rate = 0, store_rate = 0, cache_recovery = 0, store_recovery = 0;
};

class Simulation {
 public:
  Simulation(const Job& job, uint64_t seed) : job_(job), random_(seed), failures_(job.cache_rate + job.store_rate) {}

  double efficiency(uint64_t sets) {
    next_failure_ = failures_(random_);
    while (done_ < sets) segment();
    return static_cast<double>(sets) * job_.work / now_;
  }

 private:
  // Passes `seconds`; false if a failure comes first, at which time now_ stops.
  bool pass(double seconds) {
    if (now_ + seconds < next_failure_) {
      now_ += seconds;
      return true;
    }
    now_ = next_failure_;
    next_failure_ += failures_(random_);
    return false;
  }

  // Work at the speed that the drain leaves, which may end meanwhile.
  double seconds_of_work() const {
    const double busy = std::max(0.0, drained_at_ - now_), slow = 1 - job_.slowdown;
    if (!draining_ || busy <= 0) return job_.work;
    if (busy * slow >= job_.work) return job_.work / slow;
    return job_.work + busy * job_.slowdown;
  }

  void note_drain() {
    if (!draining_ || drained_at_ > now_) return;
    stored_ = draining_set_;
    draining_ = false;
  }

  void segment() {
    const bool to_store = (done_ + 1) % job_.every == 0;
    const double wait = job_.kind == Kind::waiting && to_store ? job_.flush : 0;
    if (!pass(seconds_of_work())) return fail();
    if (!pass((job_.kind == Kind::store_only ? job_.flush : job_.cost) + wait)) return fail();
    note_drain();
    ++done_;
    if (job_.kind != Kind::background) {
      if (to_store) stored_ = done_;
      return;
    }
    if (!to_store) return;
    if (draining_) {  // one at a time: the application waits
      if (!pass(drained_at_ - now_ + 1e-9)) return fail();
      note_drain();
    }
    draining_ = true;
    draining_set_ = done_;
    drained_at_ = now_ + job_.drain;
  }

  bool is_severe() {
    return std::uniform_real_distribution<>(0, job_.cache_rate + job_.store_rate)(random_) < job_.store_rate;
  }

  void fail() {
    note_drain();
    bool severe = job_.kind == Kind::store_only || is_severe();
    for (;;) {
      if (severe) {
        draining_ = false;
        done_ = stored_;
      }
      if (pass(severe ? job_.store_recovery : job_.cache_recovery)) break;
      severe = true;  // another one while it recovers
    }
    note_drain();
  }

  Job job_;
  std::mt19937_64 random_;
  std::exponential_distribution<> failures_;
  double now_ = 0, next_failure_ = 0;
  uint64_t done_ = 0, stored_ = 0, draining_set_ = 0;
  bool draining_ = false;
  double drained_at_ = 0;
};

double simulated(const Job& job) { return Simulation(job, 1).efficiency(200'000); }

// 1024 nodes with 64 GB each; a stage of 5 GB/s, links of 10 GB/s, a file system of 100 GB/s.
job::WaysInput machine(double job_mtbf, uint64_t aggregator_nodes) {
  job::WaysInput input;
  input.plan.nodes = 1024;
  input.plan.node_bytes = 64e9;
  input.plan.interval = 3600;
  input.plan.node_network = input.peers = input.plan.network = 10e9;
  input.plan.pfs = 100e9;
  input.plan.pfs_stream = 4e9;
  input.aggregator_nodes = aggregator_nodes;
  input.stage = 5e9;
  input.node_mtbf = job_mtbf * 1024;
  return input;
}

Job job_of(const job::WaysInput& input, const job::Way& way) {
  Job job;
  job.kind = static_cast<Kind>(way.kind);
  job.work = way.advice.work;
  job.every = way.advice.every;
  job.cost = way.cost;
  job.flush = std::max(input.plan.node_bytes / input.plan.node_network, input.plan.set_bytes() / input.plan.pfs);
  job.drain = plan_drain(input.plan, input.aggregator_nodes).drain_seconds;
  job.slowdown = input.slowdown;
  job.cache_rate = way.survived / input.mtbf();
  job.store_rate = (1 - way.survived) / input.mtbf();
  job.cache_recovery =
      input.recovery + input.plan.node_bytes / input.stage + 8.0 / 7 * input.plan.node_bytes / input.peers;
  job.store_recovery = input.recovery + job.flush;
  return job;
}

const job::Way& way_of(const std::vector<job::Way>& ways, job::Way::Kind kind) {
  return *std::ranges::find_if(
      ways, [&](const job::Way& way) { return way.kind == kind && (way.scheme.empty() || way.scheme == "xor:8"); });
}

void print_rates() {
  fmt::print(
      "\n| the job's MTBF | store only | caches (xor:8), waits for the store | drained meanwhile, 32 transfer nodes "
      "|\n");
  fmt::print("|---|---|---|---|\n");
  for (const double hours : {0.5, 1.0, 2.0, 4.0, 8.0, 24.0, 96.0}) {
    const job::WaysInput input = machine(hours * 3600, 32);
    const auto ways = compare_ways(input);
    fmt::print("| {} h |", hours);
    for (const auto kind : {job::Way::Kind::store_only, job::Way::Kind::waiting, job::Way::Kind::background}) {
      const job::Way& way = way_of(ways, kind);
      fmt::print(" {:.1f} % (model {:.1f}; every {:.0f} s, {}) |", 100 * simulated(job_of(input, way)),
                 100 * way.advice.efficiency, way.advice.work + way.cost,
                 way.advice.every == 1 ? "all stored" : fmt::format("1 of {} stored", way.advice.every));
    }
    fmt::print("\n");
  }
}

void print_aggregator_nodes() {
  constexpr double kHour = 3600;
  fmt::print(
      "\n| compute nodes to a transfer node | drain | drained meanwhile, set every 180 s, 1 of 4 stored | caches wait "
      "for the store |\n");
  fmt::print("|---|---|---|---|\n");
  for (const uint64_t share : {4, 8, 16, 32, 64, 128}) {
    const job::WaysInput input = machine(4 * kHour, 1024 / share);
    const auto ways = compare_ways(input);
    Job background = job_of(input, way_of(ways, job::Way::Kind::background));
    background.work = 180 - background.cost;
    background.every = 4;
    Job waiting = job_of(input, way_of(ways, job::Way::Kind::waiting));
    waiting.work = background.work;
    waiting.every = background.every;
    fmt::print("| {} | {:.0f} s | {:.1f} % | {:.1f} % |\n", share, background.drain, 100 * simulated(background),
               100 * simulated(waiting));
  }
}

}  // namespace

void print_efficiency() {
  print_rates();
  print_aggregator_nodes();
}

}  // namespace forebay::bench
