#include "lock/wire_region.h"

#include <algorithm>

namespace forebay::lock::wire {
namespace {

constexpr uint64_t kSameShape = 1;  // length and levels are those of the term before

uint64_t distance(uint64_t from, uint64_t to) { return zigzag(to - from); }

bool same_shape(const Region& region, const Term& a, const Term& b) {
  return a.length == b.length && std::ranges::equal(region.levels(a), region.levels(b));
}

}  // namespace

// Each term: its start, as the distance from where the one before ended (its first segment); how many levels it has,
// and whether it is like the one before; then, unless it is, length and levels.
void put_region(Bytes& to, const Region& region) {
  put_varint(to, region.terms().size());
  const Term* before = nullptr;
  for (const Term& term : region.terms()) {
    put_varint(to, distance(before ? before->start + before->length : 0, term.start));
    const bool same = before && same_shape(region, *before, term);
    put_varint(to, (term.level_count << 1) | (same ? kSameShape : 0));
    before = &term;
    if (same) continue;
    put_varint(to, term.length);
    for (const Level& level : region.levels(term)) {
      put_varint(to, level.count);
      put_varint(to, level.stride);
    }
  }
}

Result<Region> read_region(Cursor& from, uint64_t max_terms) {
  const auto broken = [] { return fail(ErrorKind::corrupt, "a region that cannot be read"); };
  const uint64_t terms = from.varint();
  if (!from.ok() || terms > from.remaining() / 2) return broken();
  if (terms > max_terms) return fail(ErrorKind::limit, "a list with too many terms");
  Region region;
  uint64_t position = 0, length = 0;
  Level levels[kMaxLevels];
  size_t level_count = 0;
  for (uint64_t i = 0; i < terms; ++i) {
    const uint64_t start = position + unzigzag(from.varint());
    const uint64_t head = from.varint(2 * kMaxLevels + 1);
    const bool same = (head & kSameShape) != 0;
    if (same && (i == 0 || level_count != head >> 1)) return broken();
    if (!same) {
      level_count = head >> 1;
      length = from.varint();
      for (Level& level : std::span(levels, level_count)) {
        level.count = from.varint();
        level.stride = from.varint();
      }
    }
    if (!from.ok()) return broken();
    if (!region.add(start, length, std::span(levels, level_count))) return broken();
    position = start + length;
  }
  return region;
}

}  // namespace forebay::lock::wire
