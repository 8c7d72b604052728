#include "job/plan/plan_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

#include <fmt/format.h>

namespace forebay::job {
namespace {

constexpr uint64_t kMostTransferNodes = 1'000'000;

// The part of the set that the busiest aggregator node handles. A group is handled by one.
double largest_share(const PlanInput& input, uint64_t aggregator_nodes) {
  if (input.groups == 0) return 1 / static_cast<double>(aggregator_nodes);
  const uint64_t most_groups = (input.groups + aggregator_nodes - 1) / aggregator_nodes;
  return static_cast<double>(most_groups) / static_cast<double>(input.groups);
}

struct Stage {
  PlanLimit limit;
  double seconds;  // for the whole set, if nothing else took any time
};

std::array<Stage, 5> stages(const PlanInput& input, uint64_t aggregator_nodes) {
  const double all = input.set_bytes(), busiest = all * largest_share(input, aggregator_nodes);
  return {{{PlanLimit::node_network, input.node_bytes / input.node_network},
           {PlanLimit::network, busiest / input.network},
           {PlanLimit::codec, busiest / input.codec},
           {PlanLimit::pfs_stream, busiest / input.ratio / input.pfs_stream},
           {PlanLimit::pfs, all / input.ratio / input.pfs}}};
}

Result<void> above_zero(double value, const char* what) {
  if (!(value > 0)) return fail(ErrorKind::invalid_argument, fmt::format("{} must be above 0", what));
  return {};
}

}  // namespace

Result<void> check(const PlanInput& input) {
  FOREBAY_CHECK(above_zero(static_cast<double>(input.nodes), "the number of compute nodes"));
  FOREBAY_CHECK(above_zero(input.node_bytes, "the size of a checkpoint"));
  FOREBAY_CHECK(above_zero(input.interval, "the interval"));
  FOREBAY_CHECK(above_zero(input.ratio, "the ratio"));
  const std::array rates{input.node_network, input.network, input.codec, input.pfs_stream, input.pfs};
  for (const double rate : rates) FOREBAY_CHECK(above_zero(rate, "a rate"));
  if (std::ranges::all_of(rates, [](double rate) { return std::isinf(rate); }))
    return fail(ErrorKind::invalid_argument, "no rate is known", {}, {},
                "give one of --network, --node-network, --pfs, --pfs-stream and --codec, or --measure");
  if (!(input.margin >= 0 && input.margin < 1))
    return fail(ErrorKind::invalid_argument, "the margin must be a part of the interval");
  return {};
}

const char* to_string(PlanLimit limit) {
  switch (limit) {
    case PlanLimit::node_network:
      return "network of a compute node";
    case PlanLimit::network:
      return "network of an aggregator node";
    case PlanLimit::codec:
      return "compression";
    case PlanLimit::pfs_stream:
      return "one writer to the file system";
    case PlanLimit::pfs:
      return "file system";
  }
  return "";
}

PlanRow plan_drain(const PlanInput& input, uint64_t aggregator_nodes) {
  const auto all = stages(input, aggregator_nodes);
  const Stage& slowest = *std::ranges::max_element(all, {}, &Stage::seconds);
  // As long as there is room in the buffers, bytes come in as fast as the network has them; then no faster than others
  // go out (paper 003, section 3 and figures 8 and 9).
  const double in = std::max(all[0].seconds, all[1].seconds);
  const double held = std::min(1.0, static_cast<double>(aggregator_nodes) * input.buffer / input.set_bytes());
  PlanRow row{.aggregator_nodes = aggregator_nodes, .drain_seconds = slowest.seconds, .limit = slowest.limit};
  row.pull_seconds = std::max(in, slowest.seconds * (1 - held));
  row.fits = row.drain_seconds <= input.allowed_seconds();
  const double every = std::ceil(row.drain_seconds / input.interval);
  row.stored_every = static_cast<uint64_t>(std::clamp(every, 1.0, 1e18));
  return row;
}

std::optional<uint64_t> fewest_aggregator_nodes(const PlanInput& input) {
  // More aggregator nodes are never slower.
  const auto numbers = std::views::iota(uint64_t{1}, kMostTransferNodes + 1);
  const auto found = std::ranges::partition_point(numbers, [&](uint64_t n) { return !plan_drain(input, n).fits; });
  if (found == numbers.end()) return std::nullopt;
  return *found;
}

std::vector<uint64_t> numbers_to_show(const PlanInput& input) {
  const auto fewest = fewest_aggregator_nodes(input);
  const auto helps_to_double = [&](uint64_t n) {
    return n < kMostTransferNodes && plan_drain(input, 2 * n).drain_seconds < plan_drain(input, n).drain_seconds;
  };
  std::vector<uint64_t> numbers;
  uint64_t n = 1;
  for (; fewest ? n < *fewest : helps_to_double(n); n *= 2) numbers.push_back(n);
  if (fewest)
    for (const uint64_t more : {*fewest - 1, *fewest, *fewest + 1, *fewest * 2})
      if (more > 0) numbers.push_back(more);
  if (!fewest) numbers.push_back(n);
  std::ranges::sort(numbers);
  const auto [first, last] = std::ranges::unique(numbers);
  numbers.erase(first, last);
  return numbers;
}

}  // namespace forebay::job
