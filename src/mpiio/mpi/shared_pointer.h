// The shared file pointer of a file that is the layer's, in etypes.
#pragma once

#include <cstdint>

#include "mpiio/mpi/file.h"

namespace forebay::lock::mpiio {

MpiResult<int64_t> shared_position(File& file);

// Collective, and waits for all processes: where the shared pointer is.
MpiResult<int64_t> agreed_shared_position(File& file);

// Moves the shared pointer on and returns where it was.
MpiResult<int64_t> reserve_shared(File& file, int64_t etypes);

// Collective: the same for all processes in the order of their ranks. A process that has failed before takes part with
// no etypes.
MpiResult<int64_t> reserve_ordered(File& file, int64_t etypes);

// To be called by all processes, with the same value; waits for none of them.
void set_shared(File& file, int64_t position);

// Whether this process has reason to believe that the pointer is not at zero.
bool shared_pointer_used(File& file);

// Collective, when the file is closed: lets the server forget the counters.
void drop_counters(File& file);

}  // namespace forebay::lock::mpiio
