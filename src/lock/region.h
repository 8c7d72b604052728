// A region of a file: a set of bytes, as terms that repeat with strides, so that a regular pattern of any size stays
// small. What MPI datatypes describe by nesting vectors (paper 004, section 2.3, and its section 6 on generators of
// lists).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

namespace forebay::lock {

// File offsets, in bytes, are below this: the greatest off_t.
inline constexpr uint64_t kFileEnd = uint64_t{INT64_MAX};

// How deep a term may nest.
inline constexpr size_t kMaxLevels = 8;

// `count` repetitions, each `stride` bytes after the one before.
struct Level {
  uint64_t count = 1;
  uint64_t stride = 0;
  bool operator==(const Level&) const = default;
};

// `length` bytes at `start`, repeated by each of its levels, of which the last varies fastest: the segments begin at
// start + i0 * stride0 + i1 * stride1 + ... for all i0 < count0, i1 < count1, ... They may touch and may overlap.
struct Term {
  uint64_t start = 0;
  uint64_t length = 0;
  uint32_t first_level = 0;  // into Region's levels
  uint32_t level_count = 0;
};

// The bytes from `first` to before `end`.
struct Extent {
  uint64_t first = 0;
  uint64_t end = 0;
  bool operator==(const Extent&) const = default;
};

// Whether they have no byte in common.
inline bool apart(const Extent& a, const Extent& b) { return a.end <= b.first || b.end <= a.first; }

class Region {
 public:
  static Region whole_file();

  // Adds one term, in normal form: the levels by falling strides, each with a count of at least 2 and a stride greater
  // than the length. Levels that repeat nothing are dropped, levels that continue the segment without a gap are folded
  // into its length, and levels that continue another level into that one. Nothing is added if a count or the length is
  // zero. invalid_argument if a byte would lie at or beyond kFileEnd, or if more than kMaxLevels levels remain; the
  // region is then as it was.
  Result<void> add(uint64_t start, uint64_t length, std::span<const Level> levels = {});

  std::span<const Term> terms() const { return terms_; }
  std::span<const Level> levels(const Term& term) const {
    return std::span(levels_).subspan(term.first_level, term.level_count);
  }
  bool empty() const { return terms_.empty(); }

  // From the first byte of any term to the last; {0, 0} if empty.
  Extent bounds() const { return bounds_; }

  // Each term begins at or after the end of the one before: such lists are searched instead of walked.
  bool ordered() const { return ordered_; }

  // Puts the terms in order of their starts, which may make them ordered().
  void sort();

  // The number of segments of all terms, at most UINT64_MAX.
  uint64_t segment_count() const;

  // Bytes of memory that this object owns beside itself.
  size_t memory() const;

 private:
  std::vector<Term> terms_;
  std::vector<Level> levels_;  // terms that follow each other share equal levels
  Extent bounds_;
  bool ordered_ = true;
};

// From the first to after the last byte of one term of `region`.
Extent bounds_of(const Region& region, const Term& term);

// The same bytes, each segment a term of its own: what a list without compression looks like. limit if there would be
// more than `most` segments.
Result<Region> expanded(const Region& region, uint64_t most);

// The same bytes in few terms: finds runs of equal lengths and equal strides, and runs of such runs, in the segments as
// they are given; O(n). Segments of length zero are left out. Errors as Region::add.
Result<Region> compressed(std::span<const Extent> segments);

// What a request locks around the bytes that it touches (paper 004, section 2).
enum class Granularity : uint8_t {
  list,   // exactly these bytes
  range,  // from the first to the last of them
  file,   // everything
};

// A region without bytes stays one.
Region coarsened(Region region, Granularity granularity);

}  // namespace forebay::lock
