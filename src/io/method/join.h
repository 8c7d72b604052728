// Blocks that are joined along a dimension, in the order of ranks.
#pragma once

#include <span>

#include "io/group/failure.h"
#include "io/group/process_group.h"
#include "io/method/communicator.h"

namespace forebay::io {

// Collective: gives the joined blocks of all ranks their offsets and global shapes, step by step, by ranks and then in
// order of writing. Costs one message from and to each rank if any rank has such blocks, and one reduction otherwise.
Outcome<void> join_blocks(Communicator& communicator, std::span<ProcessGroup> groups);

}  // namespace forebay::io
