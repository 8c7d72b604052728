// Which process is this? What a process has opened is not its child's to use or to end.
#pragma once

#include <cstdint>

namespace forebay::lock {

// Grows in every child of fork(). Costs less than asking for the process identifier.
uint64_t fork_generation();

}  // namespace forebay::lock
