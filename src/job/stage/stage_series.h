// Whose sets lie in a stage: those of one series (decision 0021). STAGE/.forebay/series says which.
#pragma once

#include <string>

#include "base/error.h"

namespace forebay::job {

// From now on the stage is of `series`. exists, naming them, if sets of another series have files there and have not
// ended: an agent would drain them into the wrong series. Those that are durable, skipped or given up are never drained
// again, and do not matter; nor does what no agent has seen come, which is left alone (strangers.h). To be called after
// prepare_stage(), by the one agent of the stage.
Result<void> take_stage(const std::string& stage, const std::string& series);

}  // namespace forebay::job
