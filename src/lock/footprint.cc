#include "lock/footprint.h"

#include <algorithm>
#include <optional>

namespace forebay::lock {
namespace {

constexpr size_t kMostTerms = 64;  // of a region that is looked at term by term

uint64_t length(const Extent& extent) { return extent.end - extent.first; }

// The offsets of the term's bytes modulo `stride`: each level that `stride` does not divide moves the segments on, or
// back, by what is left of it.
Extent within_stride(const Region& region, const Term& term, uint64_t stride) {
  const Extent everything{0, stride};
  uint64_t first = term.start % stride, taken = term.length;
  if (taken >= stride) return everything;
  for (const Level& level : region.levels(term)) {
    const uint64_t rest = level.stride % stride;
    if (rest == 0) continue;
    const bool is_back = rest > stride / 2;
    const uint64_t step = is_back ? stride - rest : rest;
    if (level.count - 1 >= (stride - taken + step - 1) / step) return everything;
    const uint64_t moved = (level.count - 1) * step;
    taken += moved;
    if (is_back) first += first < moved ? stride - moved : uint64_t{0} - moved;
  }
  return {first, first + taken};
}

// The shorter of the two stretches that hold both.
Extent joined(const Extent& a, const Extent& b, uint64_t stride) {
  const auto from = [stride](const Extent& x, const Extent& y) {
    const uint64_t gap = y.first >= x.first ? y.first - x.first : y.first + stride - x.first;
    return Extent{x.first, x.first + std::max(length(x), gap + length(y))};
  };
  const Extent x = from(a, b), y = from(b, a);
  const Extent& shorter = length(x) <= length(y) ? x : y;
  return length(shorter) < stride ? shorter : Extent{0, stride};
}

Extent within_stride(const Region& region, uint64_t stride) {
  if (region.terms().size() > kMostTerms) return {0, stride};
  std::optional<Extent> all;
  for (const Term& term : region.terms()) {
    const Extent one = within_stride(region, term, stride);
    all = all ? joined(*all, one, stride) : one;
  }
  return all.value_or(Extent{});
}

double segments_of(const Region& region, const Term& term) {
  double count = 1;
  for (const Level& level : region.levels(term)) count *= static_cast<double>(level.count);
  return count;
}

}  // namespace

Strides strides_of(const Region& region) {
  Strides strides;
  if (region.empty() || region.terms().size() > kMostTerms) return strides;
  const Term& main =
      *std::ranges::max_element(region.terms(), {}, [&](const Term& term) { return segments_of(region, term); });
  const auto levels = region.levels(main);
  for (size_t i = levels.size(); i-- > 0 && strides.count < kMostStrides;) {
    const uint64_t stride = levels[i].stride;
    if (stride <= kLongestStride && length(within_stride(region, stride)) < stride)
      strides.at[strides.count++] = stride;
  }
  return strides;
}

Footprint footprint(const Region& region, const Strides& strides) {
  Footprint result;
  result.sides[0] = region.bounds();
  for (size_t i = 0; i < strides.count; ++i) result.sides[i + 1] = within_stride(region, strides.at[i]);
  return result;
}

}  // namespace forebay::lock
