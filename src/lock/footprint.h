// Where a region may have bytes, in a few numbers: its bounds in the file, and its bounds within some strides. Regions
// that interleave have overlapping bounds in the file, but lie apart within the stride that they share.
#pragma once

#include <array>
#include <cstdint>

#include "lock/region.h"

namespace forebay::lock {

inline constexpr size_t kMostStrides = 3;

// The strides of which footprints are taken: the first `count` of `at`, each from 2 to kLongestStride.
struct Strides {
  std::array<uint64_t, kMostStrides> at{};
  size_t count = 0;
  bool operator==(const Strides&) const = default;
};
inline constexpr uint64_t kLongestStride = uint64_t{1} << 61;  // sums of three must fit

// sides[0] are the bounds in the file. sides[i] are, for each byte of the region, its offset modulo strides.at[i - 1]:
// from `first`, below the stride, to before `end`, which is beyond the stride if the bytes go on at 0.
struct Footprint {
  std::array<Extent, kMostStrides + 1> sides{};
};

// Those strides, the shortest first, of the region's term with the most segments, within which the region does not take
// everything: what tells it apart from others of its kind. None for long lists, which would take too long to look at.
Strides strides_of(const Region& region);

// Takes no longer for long lists: there all sides but the first are whole strides.
Footprint footprint(const Region& region, const Strides& strides);

// Whether regions with these footprints, or with footprints within them (hulls), may have a byte in common. If not,
// they have none.
inline bool may_meet(const Footprint& a, const Footprint& b, const Strides& strides) {
  const auto meet = [](const Extent& x, const Extent& y, uint64_t shift_x, uint64_t shift_y) {
    return x.first + shift_x < y.end + shift_y && y.first + shift_y < x.end + shift_x;
  };
  if (!meet(a.sides[0], b.sides[0], 0, 0)) return false;
  for (size_t i = 1; i <= strides.count; ++i) {
    const Extent &x = a.sides[i], &y = b.sides[i];
    const uint64_t stride = strides.at[i - 1];
    if (!meet(x, y, 0, 0) && !meet(x, y, stride, 0) && !meet(x, y, 0, stride)) return false;
  }
  return true;
}

}  // namespace forebay::lock
