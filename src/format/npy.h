// NumPy's .npy header, which .npz members have, too.
#pragma once

#include "base/byte_source.h"
#include "base/layout.h"

namespace forebay::format {

// Whether `head` starts like a .npy file.
bool is_npy(std::span<const std::byte> head);

// The array of the .npy file that lies at [offset, offset + size) of `source`. A variable without extents if its
// elements are Python objects. corrupt or unsupported if the header cannot be understood.
Result<Variable> read_npy(const ByteSource& source, uint64_t offset, uint64_t size);

}  // namespace forebay::format
