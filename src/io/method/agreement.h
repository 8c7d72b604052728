// How ranks agree on whether something worked.
#pragma once

#include "base/bytes.h"
#include "io/group/failure.h"
#include "io/method/communicator.h"

namespace forebay::io {

// Collective: nothing if `mine` is a success at all ranks; otherwise, at all ranks, the failure of the lowest rank that
// has one, which the text names if there is more than one rank. Costs one reduction as long as all is well.
Outcome<void> agree(Communicator& communicator, const Outcome<void>& mine);

// Collective: at all ranks what rank `root` has, or its failure.
Outcome<Bytes> tell(Communicator& communicator, const Outcome<Bytes>& of_root, uint32_t root);

// Collective: what rank `root` says, as all others are told. A failure of the root is the failure of all.
Outcome<void> tell_failure(Communicator& communicator, const Outcome<void>& of_root, uint32_t root);

}  // namespace forebay::io
