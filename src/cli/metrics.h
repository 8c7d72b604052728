// A job's status as OpenMetrics text, for Prometheus (openmetrics.io, version 1.0.0). Pure.
#pragma once

#include <string>

#include "cli/json.h"

namespace forebay::cli {

// `status` is what a coordinator says of itself; what is missing in it is left out.
std::string open_metrics(const Json& status);

}  // namespace forebay::cli
