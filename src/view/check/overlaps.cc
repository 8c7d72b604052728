#include "view/check/overlaps.h"

#include <algorithm>
#include <numeric>

#include "view/read/cover.h"

namespace forebay::view {
namespace {

// Dimensions, the one with the most different beginnings first.
std::vector<size_t> sweep_order(size_t dimensions, std::span<const Box> places) {
  std::vector<uint64_t> different(dimensions);
  for (size_t d = 0; d < dimensions; ++d) {
    std::vector<uint64_t> begins;
    for (const Box& place : places) begins.push_back(place.begin[d]);
    std::ranges::sort(begins);
    different[d] = static_cast<uint64_t>(std::ranges::unique(begins).begin() - begins.begin());
  }
  std::vector<size_t> order(dimensions);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, std::ranges::greater(), [&](size_t d) { return std::pair(different[d], dimensions - d); });
  return order;
}

Shape turned(const Shape& shape, const std::vector<size_t>& order) {
  Shape result;
  for (const size_t d : order) result.push_back(shape[d]);
  return result;
}

Shape turned_back(const Shape& shape, const std::vector<size_t>& order) {
  Shape result(shape.size());
  for (size_t i = 0; i < order.size(); ++i) result[order[i]] = shape[i];
  return result;
}

void find_pairs(const std::vector<Box>& places, size_t most, size_t most_kept, Coverage& found) {
  std::vector<size_t> order(places.size()), open;
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return std::pair(places[i].begin[0], i); });
  for (const size_t i : order) {
    if (is_empty(places[i])) continue;
    std::erase_if(open, [&](size_t j) { return places[j].begin[0] + places[j].count[0] <= places[i].begin[0]; });
    for (const size_t j : open) {
      if (is_empty(intersection(places[i], places[j]))) continue;
      if (found.pairs.size() < most_kept) found.pairs.emplace_back(std::min(i, j), std::max(i, j));
      if (++found.overlapping == most) return;
    }
    open.push_back(i);
  }
}

std::vector<Box> parts_in(const Box& box, const std::vector<Box>& parts) {
  std::vector<Box> inside;
  for (const Box& part : parts)
    if (Box common = intersection(part, box); !is_empty(common)) inside.push_back(std::move(common));
  return inside;
}

// A box without a part of the disjoint `parts`, by halving one that has holes until nothing lies in the half.
Box find_hole(Box box, std::vector<Box> parts) {
  while (!parts.empty()) {
    const auto d = static_cast<size_t>(std::ranges::max_element(box.count) - box.count.begin());
    Box half = box;
    half.count[d] = (box.count[d] + 1) / 2;
    auto inside = parts_in(half, parts);
    uint64_t covered = 0;
    for (const Box& part : inside) covered += volume(part);
    if (covered < volume(half)) {
      box = std::move(half);
    } else {
      box.begin[d] += half.count[d];
      box.count[d] -= half.count[d];
      inside = parts_in(box, parts);
    }
    parts = std::move(inside);
  }
  return box;
}

}  // namespace

Result<Coverage> coverage(const Shape& shape, std::span<const Box> places, size_t most, size_t most_kept) {
  Coverage found;
  const auto order = sweep_order(shape.size(), places);
  std::vector<Box> boxes;
  uint64_t written = 0;
  bool fits = true;
  for (const Box& place : places) {
    boxes.push_back({turned(place.begin, order), turned(place.count, order)});
    fits = fits && !__builtin_add_overflow(written, volume(place), &written);
  }
  const Box whole = engine::whole_box(turned(shape, order));
  FOREBAY_TRY(const Cover covered, cover(BlockIndex(boxes), whole));
  found.holes = covered.holes;
  if (found.holes > 0) {
    std::vector<Box> parts;
    for (const Share& share : covered.shares) parts.push_back(share.box);
    const Box hole = find_hole(whole, std::move(parts));
    found.hole = Box{turned_back(hole.begin, order), turned_back(hole.count, order)};
  }
  // Where the volumes add up, nothing overlaps.
  if (!fits || written != volume(whole) - covered.holes) find_pairs(boxes, most, most_kept, found);
  return found;
}

}  // namespace forebay::view
