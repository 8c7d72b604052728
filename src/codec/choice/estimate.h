// Cheap guesses of what a coder will make of some elements, in integers, so that every machine guesses the same.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace forebay::codec {

// The bits that an LZ coder with an entropy stage needs for `elements` of `width` bytes after a byte shuffle: the
// order-0 entropy of each byte plane, where runs of one byte cost next to nothing.
uint64_t shuffled_bits(std::span<const std::byte> elements, size_t width);

// The bits that it needs without a shuffle, as far as whole elements repeat: elements seen before cost one match each.
uint64_t repeated_bits(std::span<const std::byte> elements, size_t width);

}  // namespace forebay::codec
