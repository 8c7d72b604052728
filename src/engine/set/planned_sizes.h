// How large the frames of a damaged container were.
#pragma once

#include <cstdint>

#include "container/container.h"

namespace forebay::engine {

// The sizes of the frames of a plan that nothing but the head tells. A forged one may plan any number of them: no more
// are believed than a container of this size, with some to spare for what was cut off, can have had. corrupt also for a
// plan that cannot be.
container::FrameSizes planned_sizes(uint64_t container_bytes);

}  // namespace forebay::engine
