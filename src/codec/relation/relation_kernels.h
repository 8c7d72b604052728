// The arithmetic of the relation transform (docs/codecs.md, "relation").
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/datatype.h"
#include "codec/lossless/lorenzo_kernels.h"
#include "codec/relation/relation.h"
#include "codec/simd.h"

namespace forebay::codec {

// A term with the elements that it refers to, from the current array's first element on.
struct BoundTerm {
  const std::byte* elements = nullptr;
  double coefficient = 0;
  bool squared = false;
};

// Writes the residuals of one array of `type` (floating, 4 or 8 bytes) with at most three dimensions. `left_over` is
// working memory that relation_scratch() elements fit into. With and without AVX2 the bytes are the same.
void relation_forward(const DataType& type, RelationKind kind, std::span<const BoundTerm> terms,
                      const LorenzoArray& array, const std::byte* in, std::byte* out, double* left_over,
                      bool avx2 = has_avx2());

// The inverse.
void relation_inverse(const DataType& type, RelationKind kind, std::span<const BoundTerm> terms,
                      const LorenzoArray& array, const std::byte* in, std::byte* out, double* left_over,
                      bool avx2 = has_avx2());

// Elements of working memory for one array.
size_t relation_scratch(RelationKind kind, const LorenzoArray& array);

}  // namespace forebay::codec
