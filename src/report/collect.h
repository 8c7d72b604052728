// Gathers what a report tells, from manifests and indices alone.
#pragma once

#include "report/model.h"
#include "view/source/run.h"

namespace forebay::report {

// All steps of the sets are looked at. Of large runs some points of curves and some variables are left out (thin.h; by
// name), which the notes tell.
struct Limits {
  size_t sets = 2000, steps = 400, variables = 200;
};

// `options` as for view::open_run(), of a store. A set that cannot be looked into is told in the report.
// invalid_argument for a layout that does not go with a set. Errors: those of opening the store; not_found if the
// series has no set.
Result<Report> collect(const std::string& store, const view::RunOptions& options, const Limits& limits);

}  // namespace forebay::report
