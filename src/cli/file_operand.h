// Verbs that take `STORE NAME | FILE`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace forebay::cli {

// How a file of process groups is called while its first step is being written.
inline constexpr std::string_view kUnfinished = ".part";

// Whether such a verb was given a FILE. invalid_argument if its one operand is nothing that is there, and no store is
// known in which it could be a set.
Result<bool> names_file(const std::string& store_option, const std::vector<std::string>& operands);

}  // namespace forebay::cli
