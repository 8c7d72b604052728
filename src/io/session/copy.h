// What is looked at while a program's values are copied.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/group/definition.h"
#include "io/group/process_group.h"

namespace forebay::io {

// Sets bytes, hashes, characteristics and histogram of `block`, whose type is set, from `from`. With `into` of the same
// size the bytes are copied there, else they stay where they are. One pass: values are looked at while they are in the
// cache.
void take_values(Block& block, std::span<const std::byte> from, std::span<std::byte> into, Statistics statistics,
                 const HistogramSpec* histogram);

}  // namespace forebay::io
