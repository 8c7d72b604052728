#include "codec/halo/halo_search.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "codec/halo/halo_probes.h"

namespace forebay::codec {
namespace {

constexpr size_t kMaxFound = 1 << 15;
constexpr uint64_t kComparisonsPerCell = 8, kCellsPerComparison = 8;  // in a look at all cells, and at a sample
constexpr int32_t kGrowthCost = 8;                                    // of a probe's patience

template <class U>
class Search {
 public:
  Search(const CellNumbers& cells, std::span<const std::byte> in, uint64_t comparisons)
      : cells_(cells), in_(in), budget_(comparisons) {}

  // Looks for the probes' values among all cells, or a sample of them.
  void run(const std::vector<CellPlace>& probes, bool sampled) {
    ProbeTable table(probes.size());
    for (const CellPlace& probe : probes)
      if (!is_flat(probe)) table.add(value(cells_(probe.block, probe.at)), probe, cells_(probe.block, probe.at));
    if (table.empty()) return;
    for (uint32_t block = 0; block < cells_.blocks().size() && !is_exhausted(); ++block)
      cells_.for_each_row_at(block, cells_.whole(block), [&](const Coordinates& at, size_t) {
        const auto length = static_cast<uint32_t>(cells_.blocks()[block].dims[kAxes - 1]);
        if (!sampled) return scan(table, {block, at}, 0, length);
        for (uint32_t x = RunSample::first_run(block, at); x < length; x += RunSample::kRun * RunSample::kPeriod)
          scan(table, {block, at}, x, std::min(x + RunSample::kRun, length));
      });
  }

  std::vector<Copy> take_found() { return std::move(found_); }

 private:
  using Probe = ProbeTable::Probe;

  U value(size_t cell) const {
    U bits;
    std::memcpy(&bits, in_.data() + cell * sizeof bits, sizeof bits);
    return bits;
  }

  bool is_exhausted() const { return budget_ == 0 || found_.size() == kMaxFound; }

  // The number of cells from one to the next along an axis.
  uint32_t stride(uint32_t block, size_t axis) const {
    const auto& d = cells_.blocks()[block].dims;
    uint64_t cells = 1;
    for (size_t inner = axis + 1; inner < kAxes; ++inner) cells *= d[inner];
    return static_cast<uint32_t>(cells);
  }

  // Whether the cells around one are all equal to it: such places are everywhere, and later stages need no help there.
  bool is_flat(const CellPlace& place) const {
    const size_t cell = cells_(place.block, place.at);
    for (size_t axis = 0; axis < kAxes; ++axis) {
      const uint32_t step = stride(place.block, axis);
      if (place.at[axis] > 0 && value(cell - step) != value(cell)) return false;
      if (place.at[axis] + 1 < cells_.blocks()[place.block].dims[axis] && value(cell + step) != value(cell))
        return false;
    }
    return true;
  }

  void scan(ProbeTable& table, CellPlace row, uint32_t begin, uint32_t end) {
    row.at[3] = 0;
    const size_t first = cells_(row.block, row.at);
    for (uint32_t x = begin; x < end; ++x) {
      const U bits = value(first + x);
      if (!table.may_have(bits)) continue;
      row.at[3] = x;
      table.for_each(bits, [&](Probe& probe) { meet(probe, row, static_cast<uint32_t>(first + x)); });
    }
  }

  // A cell has the value of a probe: the later one may be a copy of the earlier one, in a box of copies.
  void meet(Probe& probe, const CellPlace& place, uint32_t cell) {
    if (probe.patience <= 0 || cell == probe.cell || is_exhausted()) return;
    const bool probe_first = probe.cell < cell;
    const CellPlace& from = probe_first ? probe.place : place;
    const CellPlace& to = probe_first ? place : probe.place;
    if (is_found(from, to)) return;
    if (!neighbours_agree(from, to)) {
      --probe.patience;
      return;
    }
    const Copy copy = grown(from, to);
    if (!is_worth_it(copy)) {
      probe.patience -= kGrowthCost;
      return;
    }
    by_distance_[key(from, to)].push_back(static_cast<uint32_t>(found_.size()));
    found_.push_back(copy);
  }

  bool is_worth_it(const Copy& copy) {
    constexpr size_t kWanted = kMinSavedBytes / sizeof(U);
    size_t changes = 0;
    return !cells_.for_each_row(copy, [&](size_t, size_t to, size_t count) {
      for (size_t i = to; i < to + count; ++i) changes += i == 0 || value(i) != value(i - 1);
      spend(count);
      return changes < kWanted;
    });
  }

  // Equal for all pairs of cells of one copy.
  static uint64_t key(const CellPlace& from, const CellPlace& to) {
    uint64_t mixed = uint64_t{from.block} << 32 | to.block;
    for (size_t axis = 0; axis < kAxes; ++axis) mixed = mixed * 0x9e3779b97f4a7c15 + (to.at[axis] - from.at[axis]);
    return mixed;
  }

  bool is_found(const CellPlace& from, const CellPlace& to) const {
    const auto alike = by_distance_.find(key(from, to));
    return alike != by_distance_.end() &&
           std::ranges::any_of(alike->second, [&](uint32_t i) { return contains(found_[i], from, to); });
  }

  static bool contains(const Copy& copy, const CellPlace& from, const CellPlace& to) {
    if (copy.from_block != from.block || copy.to_block != to.block) return false;
    for (size_t axis = 0; axis < kAxes; ++axis)
      if (to.at[axis] - copy.to[axis] >= copy.extent[axis] ||
          to.at[axis] - copy.to[axis] != from.at[axis] - copy.from[axis])
        return false;
    return true;
  }

  // Whether enough of the cells around are equal too that growing a box is worth a try.
  bool neighbours_agree(const CellPlace& from, const CellPlace& to) {
    const size_t a = cells_(from.block, from.at), b = cells_(to.block, to.at);
    int equal = 0, axes = 0;
    for (size_t axis = 0; axis < kAxes; ++axis) {
      const uint64_t from_dim = cells_.blocks()[from.block].dims[axis], to_dim = cells_.blocks()[to.block].dims[axis];
      const uint32_t from_step = stride(from.block, axis), to_step = stride(to.block, axis);
      if (from.at[axis] > 0 && to.at[axis] > 0) equal += value(a - from_step) == value(b - to_step);
      if (from.at[axis] + 1 < from_dim && to.at[axis] + 1 < to_dim) equal += value(a + from_step) == value(b + to_step);
      axes += to_dim > 1;
    }
    spend(2 * kAxes);
    return equal >= std::min(axes, 2);
  }

  void spend(uint64_t comparisons) { budget_ -= std::min(budget_, comparisons); }

  // The box around a pair of equal cells that cannot be extended by a layer of equal cells on any side.
  Copy grown(const CellPlace& from, const CellPlace& to) {
    Copy copy{.from_block = from.block, .to_block = to.block, .from = from.at, .to = to.at, .extent = {1, 1, 1, 1}};
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t axis = 0; axis < kAxes; ++axis)
        for (const bool high : {false, true}) changed |= extend(copy, axis, high);
    }
    return copy;
  }

  bool extend(Copy& copy, size_t axis, bool high) {
    Copy layer = copy, all = copy;
    layer.extent[axis] = 1;
    ++all.extent[axis];
    if (high) {
      layer.from[axis] += copy.extent[axis];
      layer.to[axis] += copy.extent[axis];
      if (layer.from[axis] >= cells_.blocks()[copy.from_block].dims[axis] ||
          layer.to[axis] >= cells_.blocks()[copy.to_block].dims[axis])
        return false;
    } else {
      if (copy.from[axis] == 0 || copy.to[axis] == 0) return false;
      --layer.from[axis], --layer.to[axis];
      all.from = layer.from, all.to = layer.to;
    }
    if (copy.within_block() && !source(all).common(destination(all)).empty()) return false;
    if (!is_equal(layer)) return false;
    copy = all;
    return true;
  }

  bool is_equal(const Copy& copy) {
    return cells_.for_each_row(copy, [&](size_t from, size_t to, size_t count) {
      size_t i = 0;
      while (i < count && value(from + i) == value(to + i)) ++i;
      spend(i + 1);
      return i == count;
    });
  }

  const CellNumbers& cells_;
  std::span<const std::byte> in_;
  uint64_t budget_;  // comparisons left
  std::vector<Copy> found_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> by_distance_;  // numbers in found_
};

template <class U>
std::vector<Copy> search(const CellNumbers& cells, std::span<const std::byte> in, Look look) {
  const bool sampled = look == Look::at_sample;
  Search<U> search(cells, in, sampled ? cells.total() / kCellsPerComparison : kComparisonsPerCell * cells.total());
  search.run(sampled ? line_probes(cells) : grid_probes(cells), sampled);
  return search.take_found();
}

}  // namespace

std::vector<Copy> find_copies(const CellNumbers& cells, size_t width, std::span<const std::byte> in, Look look) {
  switch (width) {
    case 2:
      return search<uint16_t>(cells, in, look);
    case 4:
      return search<uint32_t>(cells, in, look);
    default:
      return search<uint64_t>(cells, in, look);
  }
}

}  // namespace forebay::codec
