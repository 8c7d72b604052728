// Collective accesses made together, in two phases under one lock (exchange.h).
#pragma once

#include <optional>

#include "mpiio/mpi/plan.h"

namespace forebay::lock::mpiio {

// Whether the processes of the file should ask each other at all: the same answer on all of them.
bool may_exchange(const File& file);

// Collective, if may_exchange(). `plan` is null on a process that has failed already: the others are told. Nothing, on
// all processes, if each is to do its access by itself.
MpiResult<std::optional<uint64_t>> move_together(File& file, bool writes, const Plan* plan, int64_t begin);

}  // namespace forebay::lock::mpiio
