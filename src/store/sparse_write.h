// Writing that leaves holes where there is nothing but zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"

namespace forebay::store {

inline constexpr uint64_t kHoleBytes = 4096;

bool is_zero(std::span<const std::byte> bytes);

// Writes `bytes` at `offset` of a file that reads as zero there, leaving out the blocks of kHoleBytes, aligned in the
// file, that are all zero.
Result<void> write_sparse(int fd, uint64_t offset, std::span<const std::byte> bytes, const std::string& path);

}  // namespace forebay::store
