// The sets of one series of a store as a run.
#pragma once

#include <memory>
#include <string>

#include "view/source/run.h"

namespace forebay::view {

// `options.resources` are resolved, and their memory is for buffers alone. Errors as of open_run().
Result<std::unique_ptr<Run>> open_store_run(const std::string& path, const RunOptions& options);

}  // namespace forebay::view
