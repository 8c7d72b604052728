// The arithmetic of the fitted transform on one array (docs/codecs.md, "fitted").
#pragma once

#include <cstddef>

#include "base/datatype.h"
#include "codec/fitted/fitted.h"

namespace forebay::codec {

// Writes the residuals of all rows but the first of one array of up to three dimensions, whose type is floating, of 4
// or 8 bytes, and whose form is not lorenzo. `carry` becomes that of lorenzo_forward() for the next array. `scratch`
// has fitted_scratch() elements. `wide` chooses among paths that give the same bytes: whether to use the vectors that
// only some machines have, which this one must.
void fitted_forward(const DataType& type, const FittedRun& run, const LorenzoArray& array, const std::byte* in,
                    std::byte* out, uint64_t& carry, double* scratch, bool wide);

// The inverse; the first row of `out` is there already.
void fitted_inverse(const DataType& type, const FittedRun& run, const LorenzoArray& array, const std::byte* in,
                    std::byte* out, uint64_t& carry, double* scratch, bool wide);

// Elements of working memory for one array.
size_t fitted_scratch(const LorenzoArray& array);

}  // namespace forebay::codec
