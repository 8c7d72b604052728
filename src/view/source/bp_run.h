// A BP file of ADIOS 1.x as a run.
#pragma once

#include <memory>
#include <string>

#include "view/source/run.h"

namespace forebay::view {

// `options.resources` are resolved, and their memory is for buffers alone. Subfiles are opened when they are needed.
// Errors as of open_run().
Result<std::unique_ptr<Run>> open_bp_run(const std::string& path, const RunOptions& options);

}  // namespace forebay::view
