// How much of a frame is there more than once: what a sample of it cannot see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/shape.h"

namespace forebay::codec {

// Shares of a frame's elements, in permille.
struct Repeats {
  unsigned repeated = 0;  // lie in short pieces that occurred before, other than pieces of one value
  unsigned constant = 0;  // are equal to their neighbours
};

// Estimates by looking at pieces of eight elements: for repetition at those that begin with one element in 32, chosen
// by its value so that equal pieces are found wherever they lie; for constancy at pieces at equal distances. Of
// floating-point numbers the sign and the last bits (32 of doubles, 8 of singles) may differ: fields that are periodic
// or symmetric differ by rounding. Elements of 1, 2, 4 or 8 bytes; of another size bytes are looked at.
Repeats find_repeats(std::span<const std::byte> raw, const DataType& type);

// What an entry does not reach.
inline constexpr uint64_t kFarBytes = 256 << 10;

// The permille of a frame's bytes that lie in pieces of 32 bytes that occurred before, but not within the last
// kFarBytes. An estimate: a quarter of the frame is looked at.
unsigned find_far_repeats(std::span<const std::byte> raw);

// The most memory that these take.
inline constexpr uint64_t kRepeatsMemory = (1u << 16) * 2 * sizeof(uint32_t);

}  // namespace forebay::codec
