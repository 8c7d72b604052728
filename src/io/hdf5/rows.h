// The bytes of a block, row by row into the dataset that they are part of, and back.
#pragma once

#include <cstdint>

#include "forebay/forebay_method.h"

namespace forebay::hdf5 {

// Writes a block into a contiguous array that begins at `place` of a file; its place in the array was checked. False
// with errno if the system fails, or if the block's size is not that of its shape (EINVAL).
bool write_rows(int descriptor, uint64_t place, const forebay_method_block& block);

// Reads what lies where the block would be written into `bytes`, which has room for block.size; zeros after the end of
// the file. Fails as write_rows().
bool read_rows(int descriptor, uint64_t place, const forebay_method_block& block, char* bytes);

}  // namespace forebay::hdf5
