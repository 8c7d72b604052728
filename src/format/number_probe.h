// Which type of number bytes hold of which nobody says the type.
#pragma once

#include <cstddef>
#include <span>

#include "base/datatype.h"

namespace forebay::format {

// The type with which the bytes, from the first element on, take fewest bits: floating-point numbers or signed integers
// of 4 or 8 bytes in that order, or kBytes where neither is clearly better than single bytes, and for fewer than 256
// bytes. A guess: by the entropy of the halves of the bytes at each place of an element, corrected for small samples
// (Miller and Madow, 1955), and for floating-point numbers by their exponents. Pure; the bytes may be any.
DataType probe_numbers(std::span<const std::byte> sample, ByteOrder order);

}  // namespace forebay::format
