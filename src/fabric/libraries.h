// What is there of the libraries that are loaded when they are used.
#pragma once

#include <string>

#include "base/error.h"

namespace forebay::fabric {

// The version of UCX, as "1.13.1". Loads it, and looks for ways to other nodes. unsupported with the reason if it
// cannot be used, or if this build leaves it out. Thread-safe.
Result<std::string> ucx_version();

}  // namespace forebay::fabric
