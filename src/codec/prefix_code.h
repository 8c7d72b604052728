// Prefix codes of bounded length (Huffman 1952), canonical, and written from the lowest bit on.
#pragma once

#include <cstdint>
#include <span>

namespace forebay::codec {

// The length of the code of a symbol that is the only one: it takes no bits. 0 means that a symbol does not occur.
inline constexpr uint8_t kLoneSymbol = 15;

// The longest code that there may be.
inline constexpr unsigned kMaxCodeBits = 12;

// Lengths of at most `limit` bits (8 to kMaxCodeBits) for at most 256 symbols that occur `counts` times: a complete
// code, or kLoneSymbol for the only symbol that occurs. The total of the counts is below 2^32.
void make_code_lengths(std::span<const uint32_t> counts, unsigned limit, std::span<uint8_t> lengths);

// Whether `lengths` are those of a complete code, of a lone symbol, or all 0.
bool is_code(std::span<const uint8_t> lengths);

// The canonical codes: shorter ones first, then in the order of the symbols, as binary numbers counting up from 0,
// their bits then reversed so that the first bit of a code is its lowest.
void make_codes(std::span<const uint8_t> lengths, std::span<uint16_t> codes);

// Fills the `2^bits` entries, so that the one at the next `bits` bits is that of the code that they start with.
// `entries` are the symbols' entries; no code is longer than `bits`. A lone symbol's entry, or the first symbol's if
// none occurs, goes everywhere.
void fill_decode_table(std::span<const uint8_t> lengths, std::span<const uint32_t> entries, unsigned bits,
                       uint32_t* table);

}  // namespace forebay::codec
