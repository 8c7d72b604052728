// The bytes that an MPI datatype touches, in the order in which the datatype lists them: a tree of loops, so that
// regular datatypes of any size stay small. Pure; knows nothing of MPI (mpi/flatten.h makes patterns of MPI datatypes).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "lock/region.h"

namespace forebay::lock::mpiio {

struct Part;

// Immutable; copies share their nodes. Offsets are bytes from the datatype's origin and may be negative (lower bounds).
class Pattern {
 public:
  Pattern() = default;  // no bytes, extent 0

  static Pattern bytes(uint64_t length);  // one segment at 0, extent `length`

  // The parts in this order; pieces that adjoin become one. The extent runs from `lower_bound` over `extent` bytes, as
  // MPI computes it. limit if sizes or offsets leave int64.
  static Result<Pattern> sequence(std::span<const Part> parts, int64_t lower_bound, int64_t extent);

  // `part` `count` times, `stride` bytes apart.
  static Result<Pattern> loop(uint64_t count, int64_t stride, const Pattern& part, int64_t lower_bound, int64_t extent);

  Pattern resized(int64_t lower_bound, int64_t extent) const;

  uint64_t size() const;  // bytes of data
  int64_t lower_bound() const;
  int64_t extent() const;          // from one element to the next when several are used in a row
  int64_t first() const;           // the lowest byte that is touched, and
  int64_t end() const;             // after the highest
  uint64_t segment_count() const;  // contiguous pieces, as listed
  bool contiguous() const;         // one segment (or none): size() bytes at first()
  bool dense() const;  // repeating it any number of times gives one segment: contiguous and size() == extent()

 private:
  friend class Cursor;
  struct Node;
  std::shared_ptr<const Node> node_;
};

// A pattern at a displacement, in bytes.
struct Part {
  int64_t displacement = 0;
  Pattern pattern;
};

// A piece of memory or of a file.
struct Segment {
  int64_t offset = 0;
  uint64_t length = 0;
};

// Walks over the segments of `count` repetitions of a pattern (extent() apart), beginning at any byte of its data: in
// O(depth), or O(log parts) where a sequence is wide. Each step takes constant time on average, below 20 ns.
class Cursor {
 public:
  // Data bytes from `data_begin` to before `data_end` of the endless repetition of `pattern`; `origin` is added to
  // every offset. Segments that adjoin are given as one within a run of the innermost loop, at least.
  Cursor(const Pattern& pattern, int64_t origin, uint64_t data_begin, uint64_t data_end);
  ~Cursor();

  // False at the end.
  bool next(Segment& segment);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same data bytes as a region, compressed as far as their structure goes, without walking over the segments. Errors
// as Region::add: for instance if an offset is negative.
Result<Region> region_of(const Pattern& pattern, int64_t origin, uint64_t data_begin, uint64_t data_end);

}  // namespace forebay::lock::mpiio
