#include "codec/halo/halo_probes.h"

#include <algorithm>
#include <bit>

namespace forebay::codec {
namespace {

constexpr size_t kMaxProbes = 1 << 15;
constexpr uint64_t kMinCells = 8;              // smaller blocks are not worth a copy
constexpr uint64_t kCellsPerLineProbe = 1024;  // keeps the first look cheap

uint32_t dim(const Block& block, size_t axis) { return static_cast<uint32_t>(block.dims[axis]); }

Coordinates middle(const Block& block) {
  Coordinates at;
  for (size_t axis = 0; axis < kAxes; ++axis) at[axis] = dim(block, axis) / 2;
  return at;
}

// The places along one axis, each once.
std::vector<uint32_t> grid_places(uint32_t dim) {
  constexpr uint32_t kWithQuarters = 16;
  std::vector<uint32_t> places{0, dim / 2, dim - 1};
  if (dim >= kWithQuarters) places.insert(places.begin(), {dim / 4, dim - 1 - dim / 4});
  std::ranges::sort(places);
  places.erase(std::ranges::unique(places).begin(), places.end());
  return places;
}

void add_grid(const Block& block, uint32_t number, std::vector<CellPlace>& probes) {
  std::vector<uint32_t> places[kAxes];
  for (size_t axis = 0; axis < kAxes; ++axis) places[axis] = grid_places(dim(block, axis));
  for (const uint32_t w : places[0])
    for (const uint32_t z : places[1])
      for (const uint32_t y : places[2])
        for (const uint32_t x : places[3]) probes.push_back({number, {w, z, y, x}});
}

// The axis of the longest line in a face across `normal`; `normal` itself if the block is a line.
size_t line_axis(const Block& block, size_t normal) {
  size_t longest = normal;
  uint64_t most = 1;
  for (size_t axis = 0; axis < kAxes; ++axis) {
    const uint64_t length = axis == kAxes - 1 ? block.dims[axis] / RunSample::kRun : block.dims[axis];
    if (axis == normal || length <= most) continue;
    longest = axis;
    most = length;
  }
  return longest;
}

void add_line(const Block& block, uint32_t number, size_t normal, bool high, std::vector<CellPlace>& probes) {
  const size_t along = line_axis(block, normal);
  // A run of the sample is longer than one cell only along the last axis. A line has no face but its ends.
  const uint32_t step = along == kAxes - 1 && along != normal ? RunSample::kRun : 1;
  const uint32_t length = std::min(dim(block, along), RunSample::kPeriod * step);
  CellPlace probe{number, middle(block)};
  probe.at[normal] = high ? dim(block, normal) - 1 : 0;
  uint32_t begin = (dim(block, along) - length) / 2;
  if (along == normal) begin = high ? dim(block, along) - length : 0;
  for (uint32_t i = 0; i < length; i += step) {
    probe.at[along] = begin + i;
    probes.push_back(probe);
  }
}

bool is_worth_probing(const Block& block) { return block.count() >= kMinCells; }

}  // namespace

std::vector<CellPlace> grid_probes(const CellNumbers& cells) {
  std::vector<CellPlace> probes;
  for (size_t i = 0; i < cells.blocks().size() && probes.size() < kMaxProbes; ++i)
    if (is_worth_probing(cells.blocks()[i])) add_grid(cells.blocks()[i], static_cast<uint32_t>(i), probes);
  return probes;
}

std::vector<CellPlace> line_probes(const CellNumbers& cells) {
  constexpr size_t kPerBlock = 2 * 3 * RunSample::kPeriod;
  const size_t wanted = std::max<size_t>(1, cells.total() / kCellsPerLineProbe);
  const size_t step = std::clamp<size_t>(cells.blocks().size() * kPerBlock / wanted, 1, cells.blocks().size());
  std::vector<CellPlace> probes;
  for (size_t i = (step - 1) / 2; i < cells.blocks().size() && probes.size() < kMaxProbes; i += step) {
    const Block& block = cells.blocks()[i];
    if (!is_worth_probing(block)) continue;
    for (size_t axis = 0; axis < kAxes; ++axis)
      if (block.dims[axis] > 1)
        for (const bool high : {false, true}) add_line(block, static_cast<uint32_t>(i), axis, high, probes);
  }
  return probes;
}

// A slot a probe, and enough bits that a value without a probe seldom passes the filter.
ProbeTable::ProbeTable(size_t probes)
    : slot_shift_(64 - static_cast<int>(std::bit_width(probes | 1))),
      filter_shift_(slot_shift_ - kFilterBitsPerSlotLog2),
      filter_((size_t{1} << (64 - filter_shift_)) / 64),
      slots_(size_t{1} << (64 - slot_shift_), -1) {
  probes_.reserve(probes);
}

void ProbeTable::add(uint64_t value, const CellPlace& place, uint32_t cell) {
  int equal = 0;
  int32_t* end = &slots_[slot(value)];
  for (; *end >= 0; end = &probes_[static_cast<size_t>(*end)].next)
    if (probes_[static_cast<size_t>(*end)].value == value && ++equal == kMaxEqual) return;
  *end = static_cast<int32_t>(probes_.size());
  probes_.push_back({value, place, cell, kPatience, -1});
  const uint64_t bit = hash(value) >> filter_shift_;
  filter_[bit / 64] |= uint64_t{1} << (bit % 64);
}

}  // namespace forebay::codec
