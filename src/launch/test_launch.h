// What the tests of this room share: the same as those of `job`.
#pragma once

#include "job/test_job.h"

namespace forebay::launch {

using job::check;
using job::error;
using job::TempTest;
using job::value;

}  // namespace forebay::launch
