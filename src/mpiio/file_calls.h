// System calls that move bytes, each with permission, and until they are all moved.
#pragma once

#include <span>

#include <sys/uio.h>

#include "base/error.h"
#include "mpiio/transfer.h"

namespace forebay::lock::mpiio {

// `pieces` one after the other at `offset` of the file; they are changed. A signal and a call that moves less than
// asked are followed by another call.
Result<void> write_pieces(int fd, std::span<iovec> pieces, int64_t offset, const BeforeCall& before_call);

// Returns the bytes that were read: fewer than the pieces have only if the file ends there.
Result<uint64_t> read_pieces(int fd, std::span<iovec> pieces, int64_t offset, const BeforeCall& before_call);

}  // namespace forebay::lock::mpiio
