// Copies of single files that may be written to meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"

namespace forebay::launch {

// Copies the regular file or link `from` to `to`, which must not be there, with mode and times; missing directories
// above `to` are made. Of a file that has another size than `size` when it is copied, or that is written to meanwhile,
// nothing is kept: changed. `most`: only that many bytes of it; then it may have grown. Errors: not_found, changed,
// no_space, permission, io.
struct CopyLimits {
  std::optional<uint64_t> size;
  std::optional<uint64_t> most;
};
Result<void> copy_file(const std::string& from, const std::string& to, const CopyLimits& limits);

// Whether both are regular files of the same bytes, or links with the same target. False if either cannot be read.
bool is_same_file(const std::string& one, const std::string& other);

}  // namespace forebay::launch
