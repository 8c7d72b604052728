// Writing many pieces of memory to one place of a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"

namespace forebay::io {

// Writes the pieces, one directly behind another, at `offset`, with as few system calls as possible. no_space, io;
// `path` is for the error.
Result<void> write_pieces(int fd, std::span<const std::span<const std::byte>> pieces, uint64_t offset,
                          const std::string& path);

}  // namespace forebay::io
