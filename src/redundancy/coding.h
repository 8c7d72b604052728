// Sums of products over GF(256), by ISA-L: parities from data, and lost pieces from those that are left. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::redundancy {

// The coefficients of parity `parity` of a row with `columns` data chunks: `columns` bytes, all 1 for parity 0 (so that
// one loss is XOR). Any `losses` of a row's chunks can be computed from the others (a Cauchy matrix, scaled).
void parity_coefficients(unsigned columns, unsigned losses, unsigned parity, std::span<uint8_t> out);

// out[j] = sum over i of coefficients[j * in.size() + i] * in[i]. All spans have as many bytes; an empty one in `in` is
// zeros. At most 255 of each.
void combine(std::span<const uint8_t> coefficients, std::span<const std::span<const std::byte>> in,
             std::span<const std::span<std::byte>> out);

}  // namespace forebay::redundancy
