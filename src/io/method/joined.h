// Arrays whose ranks do not know where their blocks lie: they are joined along one dimension, in the order of ranks.
#pragma once

#include <span>

#include "io/group/definition.h"
#include "io/group/failure.h"
#include "io/group/process_group.h"
#include "io/method/communicator.h"

namespace forebay::io {

// Whether any variable of the group is joined: the same at all ranks.
bool has_joined(const GroupDefinition& group);

// Collective if the group has_joined(), else does nothing: fills in offsets and global sizes of joined blocks, step by
// step. Blocks of one rank come in the order of writing. All ranks have equally many groups.
Outcome<void> join_blocks(Communicator& communicator, const GroupDefinition& group, std::span<ProcessGroup> steps);

}  // namespace forebay::io
