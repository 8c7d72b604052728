// Arrays that are stored as blocks (HDF5 chunks, netCDF records), put back together. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "base/shape.h"

namespace forebay::engine {

// How many blocks of shape `block` cover an array of shape `shape`; UINT64_MAX if it does not fit. The shapes have the
// same rank; 0 if any dimension of either is 0.
uint64_t block_count(const Shape& shape, const Shape& block);

// Writes `stored`, the bytes from `begin` on of the blocks of an array in the C order of the block grid, to their
// places in `array`, which holds the whole array in C order. What lies outside the array, in blocks at its edge, is
// left out. `begin` and the size of `stored` are whole elements, within the blocks that block_count() counts.
void unblock(const Shape& shape, const Shape& block, uint64_t element_bytes, uint64_t begin,
             std::span<const std::byte> stored, std::span<std::byte> array);

}  // namespace forebay::engine
