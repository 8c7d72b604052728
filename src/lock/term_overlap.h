// Do two terms have a byte in common? By the arithmetic of their strides.
#pragma once

#include <array>
#include <span>

#include "lock/region.h"

namespace forebay::lock {

// A term with the extents of its blocks: extent[k] is how far the levels from k on reach, extent[level_count] the
// length of a segment.
struct Shape {
  Shape(const Region& region, const Term& term);

  uint64_t start;
  std::span<const Level> levels;
  std::array<uint64_t, kMaxLevels + 1> extent;
};

// Takes the steps that it needs, of about 10 ns each, from `effort`, but at most kTermEffort. True also if they did not
// suffice to find out.
bool overlap(const Shape& a, const Shape& b, uint64_t& effort);

inline constexpr uint64_t kTermEffort = 1u << 16;

// The least k with (first + k * step) % modulus < window, or UINT64_MAX if there is none; first, step and window are
// below the modulus.
uint64_t first_hit(uint64_t first, uint64_t step, uint64_t modulus, uint64_t window);

}  // namespace forebay::lock
