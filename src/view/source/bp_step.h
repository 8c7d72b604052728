// A step of a BP file of ADIOS 1.x.
#pragma once

#include <memory>

#include "view/source/bp_file.h"
#include "view/source/step.h"

namespace forebay::view {

// `info.time_index` says which of the file's it is. Its data have no checksums, so that a read cannot find damage.
std::shared_ptr<const Step> open_bp_step(std::shared_ptr<const BpFile> file, StepInfo info);

}  // namespace forebay::view
