// Regions of patterns: each loop becomes a level. Where the data begins or ends amid a repetition, that repetition
// becomes terms of its own.
#include <algorithm>
#include <array>

#include "mpiio/pattern.h"
#include "mpiio/pattern_node.h"

namespace forebay::lock::mpiio {
namespace {

using Levels = std::vector<Level>;

class Builder {
 public:
  // The bytes of data from `begin` to before `end` of a node at `base`.
  Result<void> add_part(const Node& node, Wide base, uint64_t begin, uint64_t end);
  Region take() { return std::move(region_); }

 private:
  Result<void> add_whole(const Node& node, Wide base);
  Result<void> add_repeated(uint64_t count, int64_t stride, const Node* child, uint64_t length, Wide base);
  Result<void> add_part_of_repeated(const Node& node, Wide base, uint64_t begin, uint64_t end);
  Result<void> add_part_of_sequence(const Node& node, Wide base, uint64_t begin, uint64_t end);
  Result<void> add_item(const Node& node, size_t index, Wide base, uint64_t begin, uint64_t end);
  Result<void> add_bytes(Wide start, uint64_t length);
  Result<void> add_term(Wide start, uint64_t length, const Levels& levels);
  Result<void> unroll(Wide start, uint64_t length, Levels levels);

  Levels levels_;  // of the loops around the present node
  Region region_;
};

Result<void> Builder::add_bytes(Wide start, uint64_t length) { return add_term(start, length, levels_); }

Result<void> Builder::add_term(Wide start, uint64_t length, const Levels& levels) {
  Wide end = start + length;
  for (const Level& level : levels) end += static_cast<Wide>(level.count - 1) * level.stride;
  if (start < 0) return fail(ErrorKind::invalid_argument, "a byte would lie before the start of the file");
  if (end > kFileEnd) return fail(ErrorKind::invalid_argument, "a byte would lie beyond the greatest file offset");
  if (region_.terms().size() >= kMaxTerms) return fail(ErrorKind::limit, "the region has too many terms");
  auto added = region_.add(static_cast<uint64_t>(start), length, levels);
  if (added || levels.size() <= kMaxLevels) return added;
  return unroll(start, length, levels);
}

// More levels than a region can hold: the shortest becomes terms.
Result<void> Builder::unroll(Wide start, uint64_t length, Levels levels) {
  auto shortest = std::ranges::min_element(levels, {}, &Level::count);
  Level level = *shortest;
  levels.erase(shortest);
  for (uint64_t i = 0; i < level.count; ++i)
    FOREBAY_CHECK(add_term(start + static_cast<Wide>(i) * level.stride, length, levels));
  return {};
}

// `child`, or `length` bytes, `count` times. What runs backwards is turned around: a region has no order.
Result<void> Builder::add_repeated(uint64_t count, int64_t stride, const Node* child, uint64_t length, Wide base) {
  if (count == 0) return {};
  if (stride < 0) base += static_cast<Wide>(count - 1) * stride;
  bool repeats = count > 1 && stride != 0;
  if (repeats) levels_.push_back({count, stride < 0 ? -static_cast<uint64_t>(stride) : static_cast<uint64_t>(stride)});
  Result<void> added = child ? add_whole(*child, base) : add_bytes(base, length);
  if (repeats) levels_.pop_back();
  return added;
}

Result<void> Builder::add_whole(const Node& node, Wide base) {
  if (node.kind != Node::Kind::sequence)
    return add_repeated(node.count, node.stride, node.child.get(), node.length, base);
  for (size_t i = 0; i + 1 < node.items.size(); ++i) FOREBAY_CHECK(add_item(node, i, base, 0, node.bytes_of(i)));
  return {};
}

Result<void> Builder::add_item(const Node& node, size_t index, Wide base, uint64_t begin, uint64_t end) {
  const Item& item = node.items[index];
  base += item.displacement;
  if (!item.node) return add_bytes(base + begin, end - begin);
  return add_part(*item.node, base, begin, end);
}

Result<void> Builder::add_part_of_sequence(const Node& node, Wide base, uint64_t begin, uint64_t end) {
  for (size_t i = node.item_at(begin); i + 1 < node.items.size() && node.items[i].data_before < end; ++i) {
    uint64_t before = node.items[i].data_before;
    uint64_t item_begin = std::max(begin, before) - before, item_end = std::min(end - before, node.bytes_of(i));
    FOREBAY_CHECK(add_item(node, i, base, item_begin, item_end));
  }
  return {};
}

Result<void> Builder::add_part_of_repeated(const Node& node, Wide base, uint64_t begin, uint64_t end) {
  uint64_t size = node.child ? node.child->size : node.length;
  Repetitions part = repetitions(size, begin, end);
  auto add_inside = [&](uint64_t repetition, uint64_t first, uint64_t last) -> Result<void> {
    Wide at = base + static_cast<Wide>(repetition) * node.stride;
    return node.child ? add_part(*node.child, at, first, last) : add_bytes(at + first, last - first);
  };
  if (part.first == part.last) return add_inside(part.first, part.begin, part.end);

  uint64_t whole_first = part.first, whole_end = part.last + 1;
  uint64_t last_end = end - part.last * size;
  if (part.begin > 0) {
    FOREBAY_CHECK(add_inside(whole_first++, part.begin, size));
  }
  if (last_end < size) {
    FOREBAY_CHECK(add_inside(--whole_end, 0, last_end));
  }
  return add_repeated(whole_end - whole_first, node.stride, node.child.get(), node.length,
                      base + static_cast<Wide>(whole_first) * node.stride);
}

Result<void> Builder::add_part(const Node& node, Wide base, uint64_t begin, uint64_t end) {
  if (begin == 0 && end == node.size) return add_whole(node, base);
  if (node.kind == Node::Kind::sequence) return add_part_of_sequence(node, base, begin, end);
  return add_part_of_repeated(node, base, begin, end);
}

}  // namespace

Result<Region> region_of(const Pattern& pattern, int64_t origin, uint64_t data_begin, uint64_t data_end) {
  if (!pattern.root() || data_begin >= data_end) return Region();
  Repetitions part = repetitions(pattern.size(), data_begin, data_end);
  auto top = repeat(part.last - part.first + 1, pattern.extent(), pattern.root());
  if (!top) return fail(ErrorKind::invalid_argument, "a byte would lie beyond the greatest file offset");
  Wide base = static_cast<Wide>(origin) + pattern.shift() + static_cast<Wide>(part.first) * pattern.extent();
  Builder builder;
  FOREBAY_CHECK(builder.add_part(**top, base, part.begin, part.end));
  return builder.take();
}

}  // namespace forebay::lock::mpiio
