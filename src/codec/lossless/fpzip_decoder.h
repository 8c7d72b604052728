// Decoding of fpzip streams. libfpzip's own decoder trusts its input: damaged bytes make it read outside its tables.
// This one was written from the published algorithm (P. Lindstrom and M. Isenburg, "Fast and Efficient Compression of
// Floating-Point Data", IEEE TVCG 12, 2006) and the library's behaviour; docs/codecs.md describes the stream.
#pragma once

#include <cstddef>
#include <span>

#include "base/error.h"

namespace forebay::codec {

// As fpzip counts: nx varies fastest; nf fields of nx * ny * nz values follow one another.
struct FpzipShape {
  size_t nx = 1, ny = 1, nz = 1, nf = 1;
  size_t count() const { return nx * ny * nz * nf; }
};

// Decodes one stream without a header, of full precision, into shape.count() values of T (float or double), stored
// little-endian at `out`. corrupt unless `stream` is consumed exactly.
template <class T>
Result<void> decode_fpzip(std::span<const std::byte> stream, const FpzipShape& shape, std::byte* out);

extern template Result<void> decode_fpzip<float>(std::span<const std::byte>, const FpzipShape&, std::byte*);
extern template Result<void> decode_fpzip<double>(std::span<const std::byte>, const FpzipShape&, std::byte*);

}  // namespace forebay::codec
