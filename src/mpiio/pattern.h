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

struct Node;  // pattern_node.h
struct Part;

// Immutable; copies share their nodes. Offsets are bytes from the datatype's origin and may be negative (lower bounds).
class Pattern {
 public:
  Pattern() = default;  // no bytes, extent 0

  static Pattern bytes(uint64_t length);  // one segment at 0, extent `length`, which is below 2^63

  // The parts in this order; pieces that adjoin become one. The extent runs from `lower_bound` over `extent` bytes, as
  // MPI computes it. limit if sizes or offsets leave int64, or if the tree becomes deeper than kMaxDepth.
  static Result<Pattern> sequence(std::span<const Part> parts, int64_t lower_bound, int64_t extent);

  // `part` `count` times, `stride` bytes apart. Errors as `sequence`.
  static Result<Pattern> loop(uint64_t count, int64_t stride, const Pattern& part, int64_t lower_bound, int64_t extent);

  Pattern resized(int64_t lower_bound, int64_t extent) const;

  uint64_t size() const;  // bytes of data
  int64_t lower_bound() const { return lower_bound_; }
  int64_t extent() const { return extent_; }  // from one element to the next when several are used in a row
  int64_t first() const;                      // the lowest byte that is touched, and
  int64_t end() const;                        // after the highest; both 0 if there is none
  uint64_t segment_count() const;             // contiguous pieces, as listed
  bool contiguous() const;                    // one segment (or none): size() bytes at first()
  bool dense() const;  // repeating it any number of times gives one segment: contiguous and size() == extent()

  // For those who walk the tree: nothing if there are no bytes. The tree begins at `shift`.
  const std::shared_ptr<const Node>& root() const { return node_; }
  int64_t shift() const { return shift_; }

  static constexpr uint32_t kMaxDepth = 1000;

 private:
  friend class Sequence;
  std::shared_ptr<const Node> node_;
  int64_t shift_ = 0, lower_bound_ = 0, extent_ = 0;
};

// A pattern at a displacement, in bytes.
struct Part {
  int64_t displacement = 0;
  Pattern pattern;
};

// Makes a sequence part by part. Equal parts at equal distances become loops, and equal loops at equal distances loops
// of loops, so that lists of displacements which some loop has generated take no room.
class Sequence {
 public:
  // Room for so many irregular parts; memory is only touched as they come.
  void reserve(size_t parts) { groups_.reserve(parts); }

  // limit if sizes or offsets leave int64.
  Result<void> add(int64_t displacement, const Pattern& part);
  Result<void> add_bytes(int64_t displacement, uint64_t length);

  // What was added, in this order; the object is empty afterwards.
  Result<Pattern> finish(int64_t lower_bound, int64_t extent);

  // Some equal parts at equal distances: `node`, or `length` bytes if there is none.
  struct Group {
    int64_t displacement = 0;
    uint64_t length = 0;
    const Node* node = nullptr;
    uint64_t count = 1;
    int64_t stride = 0;
  };

 private:
  void push_last();

  Group last_;  // may continue, if it is bytes
  std::shared_ptr<const Node> last_node_;
  std::vector<Group> groups_;
  std::vector<std::shared_ptr<const Node>> owned_;  // the nodes of the groups
};

// A piece of memory or of a file.
struct Segment {
  int64_t offset = 0;
  uint64_t length = 0;
};

// `count` pieces of equal length.
struct Run {
  int64_t offset = 0;
  uint64_t length = 0;
  uint64_t count = 0;
  int64_t stride = 0;
};

// Walks over the segments of `count` repetitions of a pattern (extent() apart), beginning at any byte of its data: in
// O(depth), or O(log parts) where a sequence is wide. Each step takes constant time on average, below 20 ns. Copies
// walk on by themselves.
class Cursor {
 public:
  // Data bytes from `data_begin` to before `data_end` of the endless repetition of `pattern`; `origin` is added to
  // every offset. Segments that adjoin are given as one within a run of the innermost loop, at least. The offsets must
  // pass `check_offsets`.
  Cursor(const Pattern& pattern, int64_t origin, uint64_t data_begin, uint64_t data_end);

  // False at the end.
  bool next(Segment& segment) {
    if (run_.count == 0 && !load()) return false;
    segment = {run_.offset, run_.length};
    run_.offset = static_cast<int64_t>(static_cast<uint64_t>(run_.offset) + static_cast<uint64_t>(run_.stride));
    --run_.count;
    return true;
  }

  // The same, as many pieces at once as the innermost loop has left.
  bool next(Run& run) {
    if (run_.count == 0 && !load()) return false;
    run = run_;
    run_.count = 0;
    return true;
  }

 private:
  struct Frame {
    const Node* node;
    int64_t base;
    uint64_t index;
  };

  bool load();
  void seek(const Node* node, int64_t base, uint64_t data);
  void enter(const Node* node, int64_t base);
  void take(const Run& run);

  Run run_;            // what comes next, then
  Run pending_;        // this, then what the stack says
  uint64_t left_ = 0;  // bytes of data beyond run_
  std::vector<Frame> stack_;
  std::shared_ptr<const Node> top_;
};

// limit if an offset of these data bytes (as a Cursor would give them) may leave int64.
Result<void> check_offsets(const Pattern& pattern, int64_t origin, uint64_t data_begin, uint64_t data_end);

// Where the data byte at `data` lies in one repetition of the pattern; `data` is below size().
int64_t offset_of(const Pattern& pattern, uint64_t data);

// The same data bytes as a region, compressed as far as their structure goes, without walking over the segments. Errors
// as Region::add: for instance if an offset is negative; limit if there would be more than kMaxTerms terms.
Result<Region> region_of(const Pattern& pattern, int64_t origin, uint64_t data_begin, uint64_t data_end);

inline constexpr uint64_t kMaxTerms = 1u << 24;

}  // namespace forebay::lock::mpiio
