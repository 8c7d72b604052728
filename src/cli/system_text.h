// Small files of the system, as those of /proc and /sys.
#pragma once

#include <string>

namespace forebay::cli {

// The text of a file, without what is beyond 1 MiB; empty if it cannot be read.
std::string text_of_file(const std::string& path);

}  // namespace forebay::cli
