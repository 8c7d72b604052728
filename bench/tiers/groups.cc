// Losses that protection groups do not survive, and how long it takes to place and to agree.
#include <algorithm>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "job/coordinator/cached_sets.h"
#include "redundancy/placement.h"
#include "redundancy/survival.h"
#include "tables.h"

namespace forebay::bench {
namespace {

using redundancy::PlacedNode;
using redundancy::Protection;

constexpr unsigned kLarge = 100'000;

std::vector<PlacedNode> nodes_in_racks(unsigned count, unsigned rack, bool labels) {
  std::vector<PlacedNode> nodes;
  for (unsigned i = 0; i < count; ++i) {
    PlacedNode node{.name = fmt::format("node{:06}", i), .labels = {}, .bytes = 64'000'000'000};
    if (labels) node.labels = {fmt::format("psu={}", i / 4), fmt::format("rack={}", i / rack)};
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// The part of the racks whose loss a placement does not survive.
double lost_racks(const std::vector<PlacedNode>& nodes, unsigned rack, const Protection& protection) {
  const redundancy::Placement placement = place(nodes, protection);
  const auto racks = static_cast<unsigned>(nodes.size()) / rack;
  std::vector<bool> is_lost(racks);
  for (const auto& group : placement.groups) {
    std::vector<unsigned> in_rack(racks);
    for (const unsigned node : group) ++in_rack[node / rack];
    for (unsigned r = 0; r < racks; ++r)
      if (in_rack[r] > losses_of(protection, static_cast<unsigned>(group.size()))) is_lost[r] = true;
  }
  return static_cast<double>(std::ranges::count(is_lost, true)) / racks;
}

template <class Do>
double processor_seconds(const Do& act) {
  const std::clock_t begin = std::clock();
  act();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// What every node offers of one set that is protected in groups of eight.
job::CachedSets agreed(const redundancy::Placement& placement) {
  job::CachedSets caches;
  for (unsigned g = 0; g < placement.groups.size(); ++g) {
    const auto& group = placement.groups[g];
    for (unsigned position = 0; position < group.size(); ++position) {
      std::vector<std::unique_ptr<job::wire::EncodingT>> encodings;
      auto& encoding = *encodings.emplace_back(std::make_unique<job::wire::EncodingT>());
      encoding.id = 1;
      encoding.group = g;
      encoding.groups = static_cast<uint32_t>(placement.groups.size());
      encoding.position = position;
      encoding.losses = 2;
      encoding.chunk = 1000;
      encoding.is_encoded = encoding.is_sealed = true;
      for (const unsigned node : group) {
        auto& member = *encoding.members.emplace_back(std::make_unique<job::wire::MemberT>());
        member.host = member.node = fmt::format("node{:06}", node);
        member.bytes = 6000;
        member.ranks = {node};
      }
      const unsigned node = group[position];
      job::CachedPart part{
          .session = node + 1, .host = fmt::format("node{:06}", node), .node = {}, .addresses = {}, .stage = {}};
      part.write = 1;
      part.total = kLarge;
      part.ranks = {node};
      part.step = 1;
      part.bytes = 6000;
      part.state = job::wire::SetState::cached;
      caches.offered(fmt::format("node{:06}", node), "dump_1", std::move(part), encodings);
    }
  }
  return caches;
}

}  // namespace

void print_losses() {
  struct Scheme {
    const char* name;
    unsigned members, losses;
  };
  const Scheme schemes[] = {{"none", 1, 0},    {"partner", 2, 1}, {"xor:4", 4, 1},    {"xor:8", 8, 1},
                            {"xor:16", 16, 1}, {"rs:2:8", 8, 2},  {"rs:2:16", 16, 2}, {"rs:3:8", 8, 3}};
  fmt::print("\n| scheme, 1024 nodes | 1 node | 2 | 3 | 4 | 8 | 16 |\n|---|---|---|---|---|---|---|\n");
  for (const Scheme& scheme : schemes) {
    const std::vector<unsigned> groups(1024 / scheme.members, scheme.members);
    fmt::print("| {} |", scheme.name);
    for (const unsigned failed : {1u, 2u, 3u, 4u, 8u, 16u})
      fmt::print(" {:.2g} |",
                 failed <= scheme.losses ? 0 : redundancy::loss_probability(groups, scheme.losses, failed));
    fmt::print("\n");
  }
  fmt::print(
      "\n| a rack of 32 of 1024 nodes fails | racks that are the end of the set, without labels | with labels "
      "|\n|---|---|---|\n");
  for (const char* text : {"partner", "xor:8", "rs:2:8"}) {
    const Protection protection = *redundancy::parse_protection(text);
    fmt::print("| {} | {:.0f} % | {:.0f} % |\n", text,
               100 * lost_racks(nodes_in_racks(1024, 32, false), 32, protection),
               100 * lost_racks(nodes_in_racks(1024, 32, true), 32, protection));
  }
}

void print_scale() {
  const std::vector<PlacedNode> nodes = nodes_in_racks(kLarge, 64, true);
  fmt::print("\n| 100,000 nodes, processor time | seconds |\n|---|---|\n");
  redundancy::Placement placement;
  for (const char* text : {"partner", "xor:8", "rs:2:8"})
    fmt::print("| placement, {} |  {:.2f} |\n", text,
               processor_seconds([&] { placement = place(nodes, *redundancy::parse_protection(text)); }));
  job::CachedSets caches;
  fmt::print("| all agents' offers of a set taken | {:.2f} |\n",
             processor_seconds([&] { caches = agreed(placement); }));
  caches.left("node000007");
  std::vector<job::CachedSet> sets;
  fmt::print("| which sets a restart can be from, one node lost | {:.2f} |\n",
             processor_seconds([&] { sets = caches.sets(); }));
  if (sets.size() != 1 || sets[0].lost != 1 || !sets[0].wrong.empty()) fmt::print("| **not what it should be** | |\n");
}

}  // namespace forebay::bench
