#include "codec/halo/halo_cover.h"

#include <algorithm>
#include <cstring>

namespace forebay::codec {
namespace {

// Copies one unit (a cell, a line, a plane, ...) over the units [begin, end) of an array.
void repeat(std::byte* units, size_t unit_bytes, size_t from, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) std::memcpy(units + i * unit_bytes, units + from * unit_bytes, unit_bytes);
}

class Filler {
 public:
  Filler(const Coordinates& dims, size_t width, const uint8_t* covered, std::byte* cells)
      : dims_(dims), covered_(covered), cells_(cells), width_(width) {
    size_t cells_so_far = 1;
    for (size_t axis = kAxes; axis-- > 0; cells_so_far *= dims[axis]) unit_[axis] = cells_so_far;
  }

  // Fills the array of the axes from `axis` on that begins at cell `at`. False, and nothing is done, if no cell is
  // kept.
  bool fill(size_t axis, size_t at) {
    if (axis == kAxes) return covered_[at] == 0;
    const size_t count = dims_[axis];
    if (axis == kAxes - 1 && std::memchr(covered_ + at, 1, count) == nullptr) return true;
    size_t done = 0;
    for (size_t i = 0; i < count; ++i) {
      if (!fill(axis + 1, at + i * unit_[axis])) continue;
      repeat(cells_ + at * width_, unit_[axis] * width_, done > 0 ? done - 1 : i, done, i);
      done = i + 1;
    }
    if (done > 0) repeat(cells_ + at * width_, unit_[axis] * width_, done - 1, done, count);
    return done > 0;
  }

 private:
  const Coordinates dims_;
  const uint8_t* covered_;
  std::byte* cells_;
  size_t width_;
  size_t unit_[kAxes];  // cells between neighbours along the axis
};

}  // namespace

Cover::Cover(const CellNumbers& cells, std::span<const Copy> copies) : cells_(cells), covered_(cells.total()) {
  for (const Copy& copy : copies)
    cells.for_each_row(copy.to_block, destination(copy),
                       [&](size_t first, size_t count) { std::memset(&covered_[first], 1, count); });
}

Box Cover::kept_part(size_t block) const {
  const Box whole = cells_.whole(block);
  Box kept{whole.end, whole.begin};
  const size_t length = whole.end[kAxes - 1];
  cells_.for_each_row_at(block, whole, [&](const Coordinates& at, size_t first) {
    const uint8_t* const row = &covered_[first];
    const auto* const low = static_cast<const uint8_t*>(std::memchr(row, 0, length));
    if (low == nullptr) return;
    size_t high = length;
    while (row[high - 1] != 0) --high;
    Coordinates begin = at, end = at;
    begin[kAxes - 1] = static_cast<uint32_t>(low - row);
    end[kAxes - 1] = static_cast<uint32_t>(high - 1);
    for (size_t axis = 0; axis < kAxes; ++axis) {
      kept.begin[axis] = std::min(kept.begin[axis], begin[axis]);
      kept.end[axis] = std::max(kept.end[axis], end[axis] + 1);
    }
  });
  return kept.empty() ? Box{} : kept;
}

bool Cover::is_restored_by(std::span<const Copy> copies) const {
  std::vector<uint8_t> pending = covered_;
  for (const Copy& copy : copies) {
    const bool is_ready = cells_.for_each_row(
        copy, [&](size_t from, size_t, size_t count) { return std::memchr(&pending[from], 1, count) == nullptr; });
    if (!is_ready) return false;
    cells_.for_each_row(copy.to_block, destination(copy),
                        [&](size_t first, size_t count) { std::memset(&pending[first], 0, count); });
  }
  return true;
}

void Cover::write_kept(size_t block, const Box& part, size_t width, const std::byte* in, std::byte* out) const {
  std::vector<uint8_t> covered;
  covered.reserve(volume(part.extent()));
  std::byte* to = out;
  cells_.for_each_row(block, part, [&](size_t first, size_t count) {
    std::memcpy(to, in + first * width, count * width);
    to += count * width;
    covered.insert(covered.end(), &covered_[first], &covered_[first] + count);
  });
  if (!covered.empty()) Filler(part.extent(), width, covered.data(), out).fill(0, 0);
}

}  // namespace forebay::codec
