// Sums of products over GF(256), by ISA-L: parities from data, and lost pieces from those that are left. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::redundancy {

// The coefficients of parity `parity` of a row with out.size() data chunks, all 1 for parity 0 (so that one loss is
// XOR). Any of a row's chunks can be computed from any out.size() others: a Cauchy matrix, its columns scaled.
// out.size() + parity is at most 255.
void parity_coefficients(unsigned parity, std::span<uint8_t> out);

// out[j] = sum over i of coefficients[j * in.size() + i] * in[i]. At most 255 of each. They need not be equally long:
// where one of `in` ends, zeros follow, and of each of `out` its bytes are computed, whatever `in` has more. `out`
// overlaps nothing.
void combine(std::span<const uint8_t> coefficients, std::span<const std::span<const std::byte>> in,
             std::span<const std::span<std::byte>> out);

// product and quotient in GF(256), for who computes coefficients. `b` of a quotient is not 0.
uint8_t multiply(uint8_t a, uint8_t b);
uint8_t divide(uint8_t a, uint8_t b);

}  // namespace forebay::redundancy
