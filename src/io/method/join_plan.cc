#include "io/method/join_plan.h"

#include <algorithm>
#include <compare>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace forebay::io {
namespace {

// Every round joins rows along each dimension. A regular grid takes one, and what takes more than these is left as the
// boxes that it has become.
constexpr int kMostRounds = 16;

uint64_t end_of(const PlacedBlock& block, size_t dimension) {
  return block.offsets[dimension] + block.shape[dimension];
}

bool do_overlap(const PlacedBlock& a, const PlacedBlock& b) {
  for (size_t d = 0; d < a.shape.size(); ++d)
    if (a.offsets[d] >= end_of(b, d) || b.offsets[d] >= end_of(a, d)) return false;
  return true;
}

// The dimension in which most blocks begin at places of their own.
size_t most_spread(std::span<const PlacedBlock> all, const std::vector<size_t>& places) {
  size_t best = 0, most = 0;
  for (size_t d = 0; d < all[places[0]].shape.size(); ++d) {
    std::set<uint64_t> begins;
    for (const size_t place : places) begins.insert(all[place].offsets[d]);
    if (begins.size() > most) std::tie(best, most) = std::pair(d, begins.size());
  }
  return best;
}

// Of the blocks at `places`, those that overlap no other of them.
std::vector<size_t> without_overlap(std::span<const PlacedBlock> all, const std::vector<size_t>& places) {
  const size_t dimension = most_spread(all, places);
  std::vector<size_t> order = places;
  std::ranges::sort(order, {}, [&](size_t place) { return all[place].offsets[dimension]; });
  std::vector<bool> overlaps(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t j = i + 1; j < order.size() && all[order[j]].offsets[dimension] < end_of(all[order[i]], dimension); ++j)
      if (do_overlap(all[order[i]], all[order[j]])) overlaps[i] = overlaps[j] = true;
  std::vector<size_t> free;
  for (size_t i = 0; i < order.size(); ++i)
    if (!overlaps[i]) free.push_back(order[i]);
  return free;
}

// What `boxes`, which do not overlap, make up together if that is a box.
bool join_whole(std::vector<Join>& boxes) {
  Join whole = boxes[0];
  uint64_t elements = 0;
  for (size_t d = 0; d < whole.shape.size(); ++d) {
    uint64_t end = 0;
    for (const Join& box : boxes) {
      whole.offsets[d] = std::min(whole.offsets[d], box.offsets[d]);
      end = std::max(end, box.offsets[d] + box.shape[d]);
    }
    whole.shape[d] = end - whole.offsets[d];
  }
  for (const Join& box : boxes)
    if (__builtin_add_overflow(elements, element_count(box.shape), &elements)) return false;
  if (elements != element_count(whole.shape)) return false;
  for (size_t i = 1; i < boxes.size(); ++i)
    whole.blocks.insert(whole.blocks.end(), boxes[i].blocks.begin(), boxes[i].blocks.end());
  boxes = {std::move(whole)};
  return true;
}

// The order in which boxes of one row along `dimension` follow each other.
std::strong_ordering order_in_rows(const Join& a, const Join& b, size_t dimension) {
  for (size_t d = 0; d < a.shape.size(); ++d) {
    if (d == dimension) continue;
    if (const auto order = a.offsets[d] <=> b.offsets[d]; order != 0) return order;
    if (const auto order = a.shape[d] <=> b.shape[d]; order != 0) return order;
  }
  return std::strong_ordering::equal;
}

bool join_rows(std::vector<Join>& boxes, size_t dimension) {
  std::ranges::sort(boxes, [&](const Join& a, const Join& b) {
    const auto order = order_in_rows(a, b, dimension);
    return order == 0 ? a.offsets[dimension] < b.offsets[dimension] : order < 0;
  });
  std::vector<Join> joined;
  for (Join& box : boxes) {
    if (!joined.empty() && order_in_rows(joined.back(), box, dimension) == 0 &&
        joined.back().offsets[dimension] + joined.back().shape[dimension] == box.offsets[dimension]) {
      joined.back().shape[dimension] += box.shape[dimension];
      joined.back().blocks.insert(joined.back().blocks.end(), box.blocks.begin(), box.blocks.end());
    } else {
      joined.push_back(std::move(box));
    }
  }
  const bool has_joined_some = joined.size() < boxes.size();
  boxes = std::move(joined);
  return has_joined_some;
}

void join_all_rows(std::vector<Join>& boxes) {
  const size_t dimensions = boxes[0].shape.size();
  for (int round = 0; round < kMostRounds; ++round) {
    bool goes_on = false;
    for (size_t d = dimensions; d-- > 0;) goes_on |= join_rows(boxes, d);
    if (!goes_on) return;
  }
}

void plan_variable(std::span<const PlacedBlock> all, const std::vector<size_t>& places, std::vector<Join>& joins) {
  if (places.size() < 2 || places.size() > kMostPlacedBlocks) return;
  const size_t dimensions = all[places[0]].shape.size();
  if (std::ranges::any_of(places, [&](size_t place) { return all[place].shape.size() != dimensions; })) return;
  std::map<uint32_t, std::vector<Join>> kinds;
  for (const size_t place : without_overlap(all, places))
    if (all[place].may_join) kinds[all[place].kind].push_back({{place}, all[place].offsets, all[place].shape});
  for (auto& [kind, boxes] : kinds) {
    if (!join_whole(boxes)) join_all_rows(boxes);
    for (Join& box : boxes)
      if (box.blocks.size() > 1) joins.push_back(std::move(box));
  }
}

}  // namespace

std::vector<Join> plan_joins(std::span<const PlacedBlock> blocks) {
  std::map<uint32_t, std::vector<size_t>> variables;
  for (size_t place = 0; place < blocks.size(); ++place)
    if (!blocks[place].shape.empty() && element_count(blocks[place].shape) > 0)
      variables[blocks[place].variable].push_back(place);
  std::vector<Join> joins;
  for (const auto& [variable, places] : variables) plan_variable(blocks, places, joins);
  for (Join& join : joins) std::ranges::sort(join.blocks);
  std::ranges::sort(joins, {}, [](const Join& join) { return join.blocks[0]; });
  return joins;
}

}  // namespace forebay::io
