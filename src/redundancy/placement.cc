#include "redundancy/placement.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "redundancy/geometry.h"
#include "redundancy/placement_fill.h"

namespace forebay::redundancy {
namespace {

// Labels as numbers, in the order of their texts, so that the input's order does not matter.
std::vector<LabelledNode> labelled(const std::vector<PlacedNode>& nodes) {
  std::unordered_map<std::string_view, uint32_t> counts;
  for (const PlacedNode& node : nodes) {
    std::vector<std::string_view> own(node.labels.begin(), node.labels.end());
    std::ranges::sort(own);
    own.erase(std::ranges::unique(own).begin(), own.end());
    for (const std::string_view label : own) ++counts[label];
  }
  std::vector<std::string_view> shared;
  for (const auto& [label, count] : counts)
    if (count > 1) shared.push_back(label);
  std::ranges::sort(shared);
  std::unordered_map<std::string_view, uint32_t> numbers;
  for (uint32_t i = 0; i < shared.size(); ++i) numbers.emplace(shared[i], i);
  std::vector<LabelledNode> out;
  for (const PlacedNode& node : nodes) {
    LabelledNode one{.labels = {}, .bytes = node.bytes};
    for (const std::string& label : node.labels)
      if (const auto number = numbers.find(label); number != numbers.end()) one.labels.push_back(number->second);
    std::ranges::sort(one.labels);
    one.labels.erase(std::ranges::unique(one.labels).begin(), one.labels.end());
    out.push_back(std::move(one));
  }
  return out;
}

class Placing {
 public:
  Placing(const std::vector<PlacedNode>& nodes, const Protection& protection)
      : named_(nodes),
        nodes_(labelled(nodes)),
        least_(protection.scheme == Scheme::partner ? 2 : protection.group_size) {
    left_.resize(nodes.size());
    std::iota(left_.begin(), left_.end(), 0u);
    // By size; what is the same in all respects but the name, by name.
    std::ranges::sort(left_, [&](unsigned a, unsigned b) {
      if (nodes_[a].bytes != nodes_[b].bytes) return nodes_[a].bytes > nodes_[b].bytes;
      return named_[a].name < named_[b].name;
    });
  }

  Placement run() {
    if (left_.size() <= kFewNodes) return finish(search_groups(nodes_, left_, fewest_groups()));
    for (size_t more = 1; left_.size() >= 2; more *= 2) {
      leave_out_majorities();
      if (auto groups = try_all()) return finish(std::move(*groups));
      for (size_t i = 0; i < more && !left_.empty(); ++i) leave_out_one();
    }
    return finish({});
  }

 private:
  unsigned fewest_groups() const {
    const size_t nodes = left_.size();
    return static_cast<unsigned>(std::max({size_t{1}, nodes / least_, (nodes + kMostMembers - 1) / kMostMembers}));
  }

  std::unordered_map<uint32_t, size_t> label_counts() const {
    std::unordered_map<uint32_t, size_t> counts;
    for (const unsigned node : left_)
      for (const uint32_t label : nodes_[node].labels) ++counts[label];
    return counts;
  }

  // Of a label that more than half of the nodes have, so many that it is half.
  void leave_out_majorities() {
    for (;;) {
      std::pair<size_t, uint32_t> worst{0, 0};
      for (const auto& [label, count] : label_counts()) worst = std::max(worst, {count, label});
      if (2 * worst.first <= left_.size()) return;
      size_t surplus = 2 * worst.first - left_.size();
      const auto is_surplus = [&](unsigned node) {
        return surplus > 0 && std::ranges::binary_search(nodes_[node].labels, worst.second) && surplus-- > 0;
      };
      std::erase_if(left_, is_surplus);
    }
  }

  // No way was found: the node that meets the most others is in the way.
  void leave_out_one() {
    const auto counts = label_counts();
    const auto others = [&](unsigned node) {
      size_t sum = 0;
      for (const uint32_t label : nodes_[node].labels) sum += counts.at(label);
      return sum;
    };
    left_.erase(std::ranges::max_element(left_, {}, others));
  }

  std::optional<Groups> try_all() const {
    size_t largest = 0;
    for (const auto& [label, count] : label_counts()) largest = std::max(largest, count);
    const auto most = static_cast<unsigned>(left_.size() / 2);
    const unsigned first = std::min(most, std::max(fewest_groups(), static_cast<unsigned>(largest)));
    const std::vector<unsigned> by_label = order_by_label();
    for (unsigned groups = first, step = 1; groups <= most; groups += step, step *= 2) {
      if (auto found = fill_groups(nodes_, left_, groups, false)) return found;
      if (auto found = fill_groups(nodes_, by_label, groups, true)) return found;
    }
    return std::nullopt;
  }

  // Those of the largest label first, and what shares labels together: dealt out in turn, they do not meet.
  std::vector<unsigned> order_by_label() const {
    const auto counts = label_counts();
    std::vector<std::vector<std::pair<size_t, uint32_t>>> keys(nodes_.size());
    for (const unsigned node : left_) {
      for (const uint32_t label : nodes_[node].labels) keys[node].emplace_back(counts.at(label), label);
      std::ranges::sort(keys[node], std::greater{});
    }
    std::vector<unsigned> order = left_;
    std::ranges::stable_sort(order, [&](unsigned a, unsigned b) { return keys[a] > keys[b]; });
    return order;
  }

  Placement finish(Groups groups) const {
    Placement placement{.groups = std::move(groups), .unprotected = {}};
    std::vector<bool> is_placed(nodes_.size());
    const auto by_name = [&](unsigned a, unsigned b) {
      return std::tie(named_[a].name, a) < std::tie(named_[b].name, b);
    };
    for (auto& group : placement.groups) {
      std::ranges::sort(group, by_name);
      for (const unsigned node : group) is_placed[node] = true;
    }
    std::ranges::sort(placement.groups, by_name, [](const auto& group) { return group.front(); });
    for (unsigned node = 0; node < nodes_.size(); ++node)
      if (!is_placed[node]) placement.unprotected.push_back(node);
    std::ranges::sort(placement.unprotected, by_name);
    return placement;
  }

  const std::vector<PlacedNode>& named_;
  std::vector<LabelledNode> nodes_;
  size_t least_;
  std::vector<unsigned> left_;  // to be placed, largest parts first
};

}  // namespace

Placement place(const std::vector<PlacedNode>& nodes, const Protection& protection) {
  if (protection.scheme == Scheme::none || nodes.empty()) return {};
  return Placing(nodes, protection).run();
}

}  // namespace forebay::redundancy
