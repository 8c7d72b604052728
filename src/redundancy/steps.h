// What a member does to encode its group, or to repair it: a list of steps, each of one piece of one row. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "redundancy/geometry.h"

namespace forebay::redundancy {

// One end of a step: bytes of a member's part or parity file. All ends of a step stand for a whole piece each: what
// `range` has less is zeros.
struct StepEnd {
  unsigned member = 0;
  Geometry::Range range;
};

// Reads `in`, computes, and brings `out` to where it belongs. in.size() is data_chunks(). `coefficients` has a row of
// in.size() bytes for each of `out`.
struct Step {
  unsigned row = 0;
  uint64_t piece = 0;
  std::vector<StepEnd> in, out;
  std::vector<uint8_t> coefficients;
};

// Pieces of a row that a member has no longer, or not as they were.
struct Bad {
  unsigned member = 0, row = 0;
  uint64_t first = 0, count = 0;  // pieces; the rest of the chunk: count as large as you like
};

// The steps of the leader of a row: member r leads row r. pieces() of them, made one at a time.
class EncodeSteps {
 public:
  EncodeSteps(const Geometry& geometry, unsigned leader) : geometry_(&geometry), leader_(leader) {}
  uint64_t count() const { return geometry_->pieces(); }
  Step at(uint64_t piece) const;

 private:
  const Geometry* geometry_;
  unsigned leader_;
};

// The steps that repair what is bad, of all rows: each has one of `leaders` that does it, in turn, so that all have as
// much to do. The same for all who ask with the same arguments, in whatever order `bad` and `leaders` are. Pieces that
// a member does not have, since its part is shorter, are neither read nor repaired. Thread-safe.
class RepairSteps {
 public:
  // corrupt, naming row and piece, if more pieces of one row are bad than the group survives. invalid_argument if `bad`
  // or `leaders` name members or rows that the group does not have, or there is no leader.
  static Result<RepairSteps> make(const Geometry& geometry, std::vector<Bad> bad, std::vector<unsigned> leaders);
  // Of one leader, in order; made one at a time. 0 for who is no leader.
  uint64_t count(unsigned leader) const;
  Step at(unsigned leader, uint64_t index) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

// Whether RepairSteps::make() would succeed where `lost` members have nothing left, and the others all they had. `lost`
// may name a member twice.
bool is_repairable(unsigned members, unsigned losses, std::span<const unsigned> lost);

}  // namespace forebay::redundancy
