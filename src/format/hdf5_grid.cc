#include "format/hdf5_grid.h"

#include <algorithm>

namespace forebay::format::hdf5 {

std::optional<ChunkGrid> ChunkGrid::make(const Dataspace& space, const Shape& chunk) {
  if (chunk.empty() || chunk.size() != space.shape.size()) return {};
  ChunkGrid grid;
  grid.shape_ = space.shape;
  grid.chunk_ = chunk;
  for (size_t i = 0; i < chunk.size(); ++i) {
    if (chunk[i] == 0) return {};
    grid.counts_.push_back(divide_up(space.shape[i], chunk[i]));
    grid.maximum_.push_back(divide_up(std::max(space.maximum[i], space.shape[i]), chunk[i]));
    grid.order_.push_back(i);
  }
  const auto unlimited = std::ranges::find(space.maximum, kUnlimited);
  if (unlimited != space.maximum.end()) {
    const auto slowest = grid.order_.begin() + (unlimited - space.maximum.begin());
    std::rotate(grid.order_.begin(), slowest, slowest + 1);
  }
  grid.cells_ = element_count(grid.counts_);
  if (grid.cells_ == UINT64_MAX) return {};
  return grid;
}

std::optional<uint64_t> ChunkGrid::cell_at(const Shape& scaled) const {
  uint64_t cell = 0;
  for (size_t i = 0; i < rank(); ++i) {
    if (scaled[i] >= counts_[i]) return {};
    cell = cell * counts_[i] + scaled[i];
  }
  return cell;
}

bool ChunkGrid::is_cut(uint64_t cell) const {
  for (size_t i = rank(); i-- > 0; cell /= counts_[i])
    if ((cell % counts_[i] + 1) * chunk_[i] > shape_[i]) return true;
  return false;
}

std::optional<uint64_t> ChunkGrid::cell_at_element(const Shape& offsets) const {
  uint64_t cell = 0;
  for (size_t i = 0; i < rank(); ++i) {
    const uint64_t scaled = offsets[i] / chunk_[i];
    if (scaled >= counts_[i] || offsets[i] % chunk_[i] != 0) return {};
    cell = cell * counts_[i] + scaled;
  }
  return cell;
}

std::optional<uint64_t> ChunkGrid::cell_of_index(uint64_t index) const {
  Shape scaled(rank());
  for (size_t i = rank(); i-- > 1;) {
    const size_t dim = order_[i];
    if (maximum_[dim] == 0) return {};
    scaled[dim] = index % maximum_[dim];
    index /= maximum_[dim];
  }
  scaled[order_[0]] = index;
  return cell_at(scaled);
}

std::optional<uint64_t> ChunkGrid::index_of_cell(uint64_t cell) const {
  Shape scaled(rank());
  for (size_t i = rank(); i-- > 0; cell /= counts_[i]) scaled[i] = cell % counts_[i];
  uint64_t index = 0;
  for (const size_t dim : order_)
    if (__builtin_mul_overflow(index, maximum_[dim], &index) || __builtin_add_overflow(index, scaled[dim], &index))
      return {};
  return index;
}

}  // namespace forebay::format::hdf5
