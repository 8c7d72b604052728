// A file that grows as a run.
#pragma once

#include <memory>
#include <string>

#include "view/source/run.h"

namespace forebay::view {

// `options.resources` are resolved, and their memory is for buffers alone. A file that is being added to is read up to
// its last complete step; refresh() finds those that came, and what was added to the last one, which steps that are
// open do not show. Errors as of open_run().
Result<std::unique_ptr<Run>> open_growing_run(const std::string& path, const RunOptions& options);

}  // namespace forebay::view
