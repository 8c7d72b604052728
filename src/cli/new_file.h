// Files that a verb writes outside of stores.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace forebay::cli {

// Writes the concatenation of `parts` to `path`: under a temporary name first, so that there is the whole file or none.
// exists if `path` is there and not `overwrite`.
Result<void> write_new_file(const std::string& path, const std::vector<std::span<const std::byte>>& parts,
                            bool overwrite);

// Makes one directory, if it is not there.
Result<void> make_directory(const std::string& path);

}  // namespace forebay::cli
