// The cells whose values the search for copies looks for, and a table to find them by value.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/halo/halo_copies.h"

namespace forebay::codec {

// A cell of a frame.
struct CellPlace {
  uint32_t block = 0;
  Coordinates at{};
};

// Corners, middles of faces and edges, centre, and with blocks large enough the places half-way between them.
std::vector<CellPlace> grid_probes(const CellNumbers& cells);

// Lines of cells along the faces of some blocks, so long that a line has a cell in a sample of the cells whatever the
// distance between the blocks; see RunSample.
std::vector<CellPlace> line_probes(const CellNumbers& cells);

// A sixteenth of the cells: of each row every sixteenth run of kRun cells, shifted from row to row so that kPeriod rows
// or planes that follow one another along any axis have each run once.
struct RunSample {
  static constexpr uint32_t kRun = 8, kPeriod = 16;

  // Where the first run of a row begins; the others follow at distances of kRun * kPeriod.
  static uint32_t first_run(uint32_t block, const Coordinates& row) {
    // Odd factors make each axis alone pass through all shifts; the blocks' shifts differ so that they are not all
    // missed at once.
    const uint32_t shift = 9 * row[0] + 5 * row[1] + row[2] + 3 * block;
    return (kPeriod - shift % kPeriod) % kPeriod * kRun;
  }
};

// Probes by the values of their cells.
class ProbeTable {
 public:
  struct Probe {
    uint64_t value;
    CellPlace place;
    uint32_t cell;     // its number
    int32_t patience;  // how much work may still be wasted on it
    int32_t next;      // the next probe of the same slot, or -1
  };

  explicit ProbeTable(size_t probes);

  // Drops it if there are enough of this value already.
  void add(uint64_t value, const CellPlace& place, uint32_t cell);

  bool empty() const { return probes_.empty(); }

  // Whether there may be probes of this value; fast.
  bool may_have(uint64_t value) const {
    const uint64_t bit = hash(value) >> filter_shift_;
    return (filter_[bit / 64] >> (bit % 64) & 1) != 0;
  }

  // Calls visit(probe) for each probe of this value.
  template <class Visit>
  void for_each(uint64_t value, Visit visit) {
    for (int32_t i = slots_[slot(value)]; i >= 0; i = probes_[static_cast<size_t>(i)].next)
      if (Probe& probe = probes_[static_cast<size_t>(i)]; probe.value == value) visit(probe);
  }

 private:
  static constexpr int kFilterBitsPerSlotLog2 = 6;
  static constexpr int kMaxEqual = 8;
  static constexpr int32_t kPatience = 64;

  static uint64_t hash(uint64_t value) { return value * 0x9e3779b97f4a7c15; }
  size_t slot(uint64_t value) const { return static_cast<size_t>(hash(value) >> slot_shift_); }

  int slot_shift_, filter_shift_;
  std::vector<Probe> probes_;
  std::vector<uint64_t> filter_;
  std::vector<int32_t> slots_;
};

}  // namespace forebay::codec
