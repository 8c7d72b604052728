// What ADIOS calls transforms: how it compresses a block before it writes it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "bp/index.h"

namespace forebay::bp {

// Whether a block with that transform lies as it was written.
bool changes_bytes(std::string_view transform);

// Fills `raw` with what a block was before its transform made `stored` of it. Both are hostile. corrupt, with `path`
// and the place of the block, if the stored bytes are not those of so many raw ones; unsupported, naming the transform,
// if this build cannot undo it.
Result<void> undo_transform(const Entry& entry, bool big_endian, std::span<const std::byte> stored,
                            std::span<std::byte> raw, const std::string& path);

}  // namespace forebay::bp
