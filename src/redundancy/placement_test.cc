#include "redundancy/placement.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "redundancy/geometry.h"
#include "redundancy/test_group.h"

namespace forebay::redundancy {
namespace {

using Names = std::vector<std::vector<std::string>>;

bool share_a_label(const PlacedNode& a, const PlacedNode& b) {
  return std::ranges::any_of(a.labels,
                             [&](const std::string& label) { return std::ranges::count(b.labels, label) > 0; });
}

Names names_of(const std::vector<PlacedNode>& nodes, const Placement& placement) {
  Names names;
  for (const auto& group : placement.groups) {
    names.emplace_back();
    for (const unsigned node : group) names.back().push_back(nodes[node].name);
  }
  names.emplace_back();
  for (const unsigned node : placement.unprotected) names.back().push_back(nodes[node].name);
  return names;
}

void expect_good(const std::vector<PlacedNode>& nodes, const Placement& placement) {
  std::set<unsigned> seen;
  size_t least = ~size_t{0}, most = 0;
  for (const auto& group : placement.groups) {
    least = std::min(least, group.size());
    most = std::max(most, group.size());
    for (size_t i = 0; i < group.size(); ++i) {
      ASSERT_TRUE(seen.insert(group[i]).second);
      for (size_t j = 0; j < i; ++j) ASSERT_FALSE(share_a_label(nodes[group[i]], nodes[group[j]]));
    }
  }
  for (const unsigned node : placement.unprotected) ASSERT_TRUE(seen.insert(node).second);
  ASSERT_EQ(seen.size(), nodes.size());
  if (placement.groups.empty()) return;
  ASSERT_GE(least, 2u);
  ASSERT_LE(most - least, 1u);
  ASSERT_LE(most, kMostMembers);
}

// Nodes with up to three kinds of labels, those of power supplies and switches in order or at random.
std::vector<PlacedNode> random_nodes(std::mt19937_64& random, unsigned count) {
  const unsigned kinds = 1 + below(random, 3), hosts = 1 + below(random, 2), supplies = 1u << below(random, 3),
                 switches = 2u << below(random, 3);
  const bool same_sizes = random() % 2 == 0;
  std::vector<PlacedNode> nodes;
  for (unsigned i = 0; i < count; ++i) {
    PlacedNode node{
        .name = "n" + std::to_string(1000 + i), .labels = {"host=" + std::to_string(i / hosts)}, .bytes = 100};
    if (kinds > 1) node.labels.push_back("psu=" + std::to_string(i / supplies));
    if (kinds > 2)
      node.labels.push_back("switch=" + std::to_string(random() % 5 != 0 ? i / switches : below(random, count)));
    if (!same_sizes) node.bytes = random() % 1000;
    nodes.push_back(node);
  }
  std::ranges::shuffle(nodes, random);
  return nodes;
}

Protection random_protection(std::mt19937_64& random) {
  static constexpr unsigned kSizes[] = {2, 3, 4, 8, 16};
  if (random() % 3 == 0) return {.scheme = Scheme::partner};
  return {.scheme = Scheme::xor_, .group_size = kSizes[random() % 5]};
}

TEST(Placement, KeepsWhatFailsTogetherApartWhateverTheOrder) {
  std::mt19937_64 random(5);
  size_t all_placed = 0, some_left = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<PlacedNode> nodes = random_nodes(random, 1 + below(random, i % 10 == 0 ? 90 : 24));
    const Protection protection = random_protection(random);
    const Placement placement = place(nodes, protection);
    expect_good(nodes, placement);
    ++(placement.unprotected.empty() ? all_placed : some_left);
    const Names names = names_of(nodes, placement);
    std::ranges::shuffle(nodes, random);
    for (PlacedNode& node : nodes) std::ranges::shuffle(node.labels, random);
    ASSERT_EQ(names_of(nodes, place(nodes, protection)), names);
  }
  EXPECT_GT(all_placed, 2000u);
  EXPECT_GT(some_left, 50u);
}

// All partitions of a few nodes, some of them left out: the best by (left out, groups, sum of the largest parts).
struct Best {
  size_t left_out = ~size_t{0}, groups = 0;
  uint64_t largest = 0;
  auto operator<=>(const Best&) const = default;
};
Best best_of_all(const std::vector<PlacedNode>& nodes, unsigned group_size) {
  const unsigned n = static_cast<unsigned>(nodes.size());
  Best best;
  std::vector<unsigned> at(n);  // group of each node; 0: left out
  for (;;) {
    const unsigned groups = *std::ranges::max_element(at);
    std::vector<std::vector<unsigned>> members(groups + 1);
    for (unsigned i = 0; i < n; ++i) members[at[i]].push_back(i);
    Best one{.left_out = members[0].size(), .groups = groups, .largest = 0};
    const size_t placed = n - members[0].size();
    bool is_good = groups >= std::min<size_t>(std::max<size_t>(1, n / group_size), placed / 2);
    for (unsigned g = 1; g <= groups; ++g) {
      is_good &=
          members[g].size() >= 2 && members[g].size() >= placed / groups && members[g].size() <= placed / groups + 1;
      uint64_t largest = 0;
      for (const unsigned a : members[g]) {
        largest = std::max(largest, nodes[a].bytes);
        for (const unsigned b : members[g]) is_good &= a == b || !share_a_label(nodes[a], nodes[b]);
      }
      one.largest += largest;
    }
    if (is_good) best = std::min(best, one);
    unsigned i = 0;
    while (i < n && ++at[i] > n / 2) at[i++] = 0;
    if (i == n) return best;
  }
}

TEST(Placement, OfAFewNodesIsTheBest) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 200; ++i) {
    const std::vector<PlacedNode> nodes = random_nodes(random, 1 + below(random, i % 40 == 0 ? 8 : 6));
    const Protection protection = random_protection(random);
    const Placement placement = place(nodes, protection);
    Best found{.left_out = placement.unprotected.size(), .groups = placement.groups.size(), .largest = 0};
    for (const auto& group : placement.groups) {
      uint64_t largest = 0;
      for (const unsigned node : group) largest = std::max(largest, nodes[node].bytes);
      found.largest += largest;
    }
    const Best best = best_of_all(nodes, protection.scheme == Scheme::partner ? 2 : protection.group_size);
    ASSERT_EQ(found, best) << i;
  }
}

// With one kind of labels the best is known: as few groups as sizes and the largest label allow, nobody left out unless
// a label has more than half.
TEST(Placement, OfOneKindOfLabelsLeavesNobodyOutWithoutNeed) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 1500; ++i) {
    const unsigned n = 9 + below(random, 120), labels = 1 + below(random, n);
    std::vector<PlacedNode> nodes;
    std::map<std::string, size_t> counts;
    for (unsigned node = 0; node < n; ++node) {
      const std::string label = "rack" + std::to_string(std::min(below(random, labels), below(random, labels)));
      ++counts[label];
      nodes.push_back(
          {.name = "n" + std::to_string(node), .labels = {label}, .bytes = i % 2 == 0 ? random() % 100 : 1});
    }
    size_t largest = 0;
    for (const auto& [label, count] : counts) largest = std::max(largest, count);
    const Protection protection = random_protection(random);
    const size_t size = protection.scheme == Scheme::partner ? 2 : protection.group_size;
    const Placement placement = place(nodes, protection);
    expect_good(nodes, placement);
    ASSERT_EQ(placement.unprotected.size(), 2 * largest > n ? std::min<size_t>(n, 2 * largest - n) : 0) << i;
    if (2 * largest <= n) {
      ASSERT_EQ(placement.groups.size(), std::max({size_t{1}, n / size, largest})) << i;
    }
  }
}

TEST(Placement, BringsLikeSizesTogether) {
  std::vector<PlacedNode> nodes;
  for (unsigned i = 0; i < 64; ++i)
    nodes.push_back(
        {.name = "n" + std::to_string(100 + i), .labels = {"rack=" + std::to_string(i / 8)}, .bytes = 1 + i % 8});
  const Placement placement = place(nodes, {.scheme = Scheme::xor_, .group_size = 8});
  ASSERT_EQ(placement.groups.size(), 8u);
  for (const auto& group : placement.groups)
    for (const unsigned node : group) EXPECT_EQ(nodes[node].bytes, nodes[group[0]].bytes);
}

TEST(Placement, OfPartnersMakesPairsAndOneOfThree) {
  std::vector<PlacedNode> nodes;
  for (unsigned i = 0; i < 11; ++i)
    nodes.push_back({.name = std::string(1, static_cast<char>('a' + i)), .labels = {}, .bytes = 5});
  const Placement placement = place(nodes, {.scheme = Scheme::partner});
  ASSERT_EQ(placement.groups.size(), 5u);
  EXPECT_EQ(std::ranges::count(placement.groups, 3u, &std::vector<unsigned>::size), 1);
}

TEST(Placement, SaysWhoIsNotProtected) {
  EXPECT_TRUE(place({}, {.scheme = Scheme::xor_}).unprotected.empty());
  EXPECT_TRUE(place({{.name = "a", .labels = {}, .bytes = 1}}, {.scheme = Scheme::none}).unprotected.empty());
  EXPECT_EQ(place({{.name = "a", .labels = {}, .bytes = 1}}, {.scheme = Scheme::xor_}).unprotected,
            std::vector<unsigned>{0});
  std::vector<PlacedNode> nodes;
  for (unsigned i = 0; i < 20; ++i) nodes.push_back({.name = "n" + std::to_string(i), .labels = {"one"}, .bytes = 1});
  const Placement placement = place(nodes, {.scheme = Scheme::partner});
  EXPECT_EQ(placement.unprotected.size() + placement.groups.size(), 20u);
  EXPECT_TRUE(placement.groups.empty());
}

TEST(Placement, NeverMakesGroupsThatCannotBeCoded) {
  std::vector<PlacedNode> nodes;
  for (unsigned i = 0; i < 509; ++i) nodes.push_back({.name = "n" + std::to_string(i), .labels = {}, .bytes = i});
  const Placement placement = place(nodes, {.scheme = Scheme::xor_, .group_size = 255});
  expect_good(nodes, placement);
  EXPECT_EQ(placement.groups.size(), 2u);
}

// Racks of 64, power supplies of 4, sizes that differ: well below a second, with room for a loaded machine.
TEST(Placement, OfAHundredThousandNodesIsQuick) {
  std::mt19937_64 random(8);
  std::vector<PlacedNode> nodes;
  for (unsigned i = 0; i < 100'000; ++i)
    nodes.push_back(
        {.name = "node" + std::to_string(i),
         .labels = {"host=" + std::to_string(i), "psu=" + std::to_string(i / 4), "rack=" + std::to_string(i / 64)},
         .bytes = random() % 1'000'000});
  for (const Protection& protection : {Protection{.scheme = Scheme::rs}, Protection{.scheme = Scheme::partner},
                                       Protection{.scheme = Scheme::rs, .group_size = 200, .losses = 4}}) {
    const std::clock_t begin = std::clock();
    const Placement placement = place(nodes, protection);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_TRUE(placement.unprotected.empty());
    EXPECT_LT(seconds, 3.0);
    RecordProperty(to_text(protection), std::to_string(seconds));
    std::printf("%s: %.2f s of processor time\n", to_text(protection).c_str(), seconds);
  }
}

}  // namespace
}  // namespace forebay::redundancy
