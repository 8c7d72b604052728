// How ranks agree on whether something worked.
#pragma once

#include <optional>
#include <string>

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

// Collective: what `mine` says if all ranks have the same `what`, "opens x with mode w", and fail or succeed alike;
// otherwise invalid_argument, or the failure of the lowest rank that has one, at all ranks. Costs one
// reduction as long as all is well, or nothing if the caller knows the `sum` of all ranks' number_of().
Outcome<void> agree_on(Communicator& communicator, const std::string& what, const Outcome<void>& mine,
                       std::optional<uint64_t> sum = {});
uint64_t number_of(const std::string& what, const Outcome<void>& mine);

// What is known to have failed at all ranks alike: the first one says it.
Failure of_all(const Communicator& communicator, Failure failure);

}  // namespace forebay::io
