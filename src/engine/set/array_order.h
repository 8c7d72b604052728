// In which order a stored array has its elements.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/catalogue.h"

namespace forebay::engine {

// Fills `out` with the bytes of the array's file from `begin` on; what belongs to variables may be zeros.
using ReadFile = std::function<Result<void>(uint64_t begin, std::span<std::byte> out)>;

// Whether a variable of a file of `catalogue` has its first dimension as the fastest one, as NumPy's files can have:
// the shape that the catalogue has of it is then NumPy's reversed. Asks `read` for a few bytes before the array, of
// files of NumPy only; errors are those of `read`.
Result<bool> is_reversed(const Catalogue& catalogue, uint32_t file, uint32_t variable, const ReadFile& read);

}  // namespace forebay::engine
