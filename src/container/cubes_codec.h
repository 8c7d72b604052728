// Cubes as bytes (docs/format.md, "Cubes"). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/catalogue.h"
#include "base/error.h"
#include "container/cubes.h"

namespace forebay::container {

// `all` are of variables that can_have_cubes(), rising, with as many cubes as their grids say; of each key all such
// variables or none. invalid_argument if they are not, limit if they are too many for a FlatBuffer.
Result<Bytes> encode_cubes(const Catalogue& catalogue, std::span<const VariableCubes> all);

// The cubes of the variables with the similarity key `key`; none if there are none. `bytes`, aligned to 8, are hostile:
// corrupt if they contradict the catalogue, limit if this takes more than `max_bytes`.
Result<std::vector<VariableCubes>> decode_cubes(std::span<const std::byte> bytes, const Catalogue& catalogue,
                                                uint32_t key, uint64_t max_bytes);

}  // namespace forebay::container
