#include "redundancy/placement_fill.h"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

namespace forebay::redundancy {
namespace {

constexpr unsigned kDeepest = 6;           // chain of members that make way
constexpr uint64_t kLooksForOne = 20'000;  // at groups, for one node that finds none
constexpr uint64_t kLooksForAll = 2'000'000;

class Filling {
 public:
  Filling(const std::vector<LabelledNode>& nodes, size_t placed, unsigned groups, bool evenly)
      : nodes_(nodes), groups_(groups), evenly_(evenly), last_(label_count(nodes)) {
    for (unsigned g = 0; g < groups; ++g) {
      rooms_.push_back(placed / groups + (g < placed % groups ? 1 : 0));
      open_.emplace(key(g), g);
    }
  }

  bool add(unsigned node) {
    if (const auto group = find_open(node)) {
      put(node, *group);
      for (const uint32_t label : nodes_[node].labels) last_[label] = *group + 1;
      return true;
    }
    looks_ = std::min(kLooksForOne, left_);
    left_ -= looks_;
    Seen seen;
    const bool is_placed = make_way(node, kDeepest, seen);
    left_ += looks_;
    return is_placed;
  }

  Groups take() { return std::move(groups_); }

 private:
  using Seen = std::set<std::pair<unsigned, unsigned>>;  // member and group that it was to leave

  static size_t label_count(const std::vector<LabelledNode>& nodes) {
    uint32_t most = 0;
    for (const LabelledNode& node : nodes)
      if (!node.labels.empty()) most = std::max(most, node.labels.back() + 1);
    return most;
  }

  size_t key(unsigned group) const { return evenly_ ? groups_[group].size() : 0; }
  bool is_full(unsigned group) const { return groups_[group].size() >= rooms_[group]; }
  static uint64_t mark(uint32_t label, unsigned group) { return uint64_t{label} << 32 | group; }

  bool fits(unsigned node, unsigned group) const {
    return std::ranges::none_of(nodes_[node].labels,
                                [&](uint32_t label) { return taken_.contains(mark(label, group)); });
  }

  std::optional<unsigned> find_open(unsigned node) const {
    // Nodes that share a label follow one another: those before have taken the first groups.
    unsigned from = 0;
    if (!evenly_)
      for (const uint32_t label : nodes_[node].labels) from = std::max(from, last_[label]);
    const auto begin = evenly_ ? open_.begin() : open_.lower_bound({0, from});
    for (auto at = begin; at != open_.end(); ++at)
      if (fits(node, at->second)) return at->second;
    for (auto at = open_.begin(); at != begin; ++at)
      if (fits(node, at->second)) return at->second;
    return std::nullopt;
  }

  void put(unsigned node, unsigned group) {
    open_.erase({key(group), group});
    groups_[group].push_back(node);
    if (!is_full(group)) open_.emplace(key(group), group);
    for (const uint32_t label : nodes_[node].labels) taken_.insert(mark(label, group));
  }

  void remove(unsigned node, unsigned group) {
    open_.erase({key(group), group});
    std::erase(groups_[group], node);
    open_.emplace(key(group), group);
    for (const uint32_t label : nodes_[node].labels) taken_.erase(mark(label, group));
  }

  bool clash(unsigned a, unsigned b) const {
    return std::ranges::any_of(nodes_[a].labels,
                               [&](uint32_t label) { return std::ranges::binary_search(nodes_[b].labels, label); });
  }

  // Members of whom one has to leave so that the node finds place there: the one that it cannot meet, or any of a full
  // group.
  std::vector<unsigned> in_the_way(unsigned node, unsigned group) const {
    std::vector<unsigned> clashing;
    for (const unsigned member : groups_[group])
      if (clash(node, member)) clashing.push_back(member);
    if (clashing.empty()) return groups_[group];
    return clashing.size() == 1 ? clashing : std::vector<unsigned>{};
  }

  // The node has no open group: it takes another's place, which takes another's...
  bool make_way(unsigned node, unsigned depth, Seen& seen) {
    if (const auto group = find_open(node)) {
      put(node, *group);
      return true;
    }
    if (depth == 0) return false;
    for (unsigned group = 0; group < groups_.size(); ++group)
      for (const unsigned member : in_the_way(node, group)) {
        if (looks_ == 0) return false;
        --looks_;
        if (!seen.emplace(member, group).second) continue;
        remove(member, group);
        put(node, group);
        if (make_way(member, depth - 1, seen)) return true;
        remove(node, group);
        put(member, group);
      }
    return false;
  }

  const std::vector<LabelledNode>& nodes_;
  Groups groups_;
  bool evenly_;
  std::vector<size_t> rooms_;
  std::set<std::pair<size_t, unsigned>> open_;  // with room: (members if they are to be even, group)
  std::unordered_set<uint64_t> taken_;          // labels in groups
  std::vector<unsigned> last_;                  // by label: behind the group that took the last node with it
  uint64_t looks_ = 0, left_ = kLooksForAll;
};

// All ways, a node at a time: into one of the groups, a new one, or none.
class Search {
 public:
  Search(const std::vector<LabelledNode>& nodes, const std::vector<unsigned>& order, unsigned fewest)
      : nodes_(nodes), order_(order), fewest_(fewest) {}

  Groups best() {
    go(0, 0);
    return best_;
  }

 private:
  struct Cost {
    size_t left_out = ~size_t{0}, groups = 0;
    uint64_t largest = 0;
    auto operator<=>(const Cost&) const = default;
  };

  bool fits(unsigned node, const std::vector<unsigned>& group) const {
    return std::ranges::none_of(group, [&](unsigned member) {
      return std::ranges::any_of(nodes_[node].labels, [&](uint32_t label) {
        return std::ranges::binary_search(nodes_[member].labels, label);
      });
    });
  }

  void go(size_t at, size_t left_out) {
    if (at == order_.size()) return judge(left_out);
    const unsigned node = order_[at];
    for (size_t g = 0; g < groups_.size(); ++g)
      if (fits(node, groups_[g])) {
        groups_[g].push_back(node);
        go(at + 1, left_out);
        groups_[g].pop_back();
      }
    groups_.push_back({node});
    go(at + 1, left_out);
    groups_.pop_back();
    go(at + 1, left_out + 1);
  }

  void judge(size_t left_out) {
    const size_t placed = order_.size() - left_out;
    if (groups_.size() < std::min<size_t>(fewest_, placed / 2)) return;
    size_t least = ~size_t{0}, most = 0;
    Cost cost{.left_out = left_out, .groups = groups_.size(), .largest = 0};
    for (const auto& group : groups_) {
      least = std::min(least, group.size());
      most = std::max(most, group.size());
      uint64_t largest = 0;
      for (const unsigned member : group) largest = std::max(largest, nodes_[member].bytes);
      cost.largest += std::min(largest, UINT64_MAX - cost.largest);
    }
    if (!groups_.empty() && (least < 2 || most - least > 1)) return;
    if (cost >= cost_) return;
    cost_ = cost;
    best_ = groups_;
  }

  const std::vector<LabelledNode>& nodes_;
  const std::vector<unsigned>& order_;
  unsigned fewest_;
  Groups groups_, best_;
  Cost cost_;
};

}  // namespace

std::optional<Groups> fill_groups(const std::vector<LabelledNode>& nodes, const std::vector<unsigned>& order,
                                  unsigned groups, bool evenly) {
  Filling filling(nodes, order.size(), groups, evenly);
  for (const unsigned node : order)
    if (!filling.add(node)) return std::nullopt;
  return filling.take();
}

Groups search_groups(const std::vector<LabelledNode>& nodes, const std::vector<unsigned>& order, unsigned fewest) {
  return Search(nodes, order, fewest).best();
}

}  // namespace forebay::redundancy
