// The arithmetic of the lorenzo transform on one array (docs/codecs.md, "lorenzo").
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/datatype.h"
#include "base/shape.h"

namespace forebay::codec {

// An array seen with the dimensions that its residuals use; leading ones are 1.
struct LorenzoArray {
  uint64_t dims[4] = {1, 1, 1, 1};

  uint64_t count() const { return dims[0] * dims[1] * dims[2] * dims[3]; }
};

// `block` without its dimensions of 1, its outer ones folded into one so that at most `level` remain (0: all).
LorenzoArray lorenzo_array(const Block& block, unsigned level);

// Writes the residuals of one array. `carry` is the predecessor of its first element in the transform's integers: 0 for
// the first array of a frame, afterwards as the previous call left it.
void lorenzo_forward(const DataType& type, const LorenzoArray& array, const std::byte* in, std::byte* out,
                     uint64_t& carry);

// The inverse.
void lorenzo_inverse(const DataType& type, const LorenzoArray& array, const std::byte* in, std::byte* out,
                     uint64_t& carry);

}  // namespace forebay::codec
