// Accesses through views whose data representation is not "native".
#pragma once

#include "mpiio/mpi/access.h"

namespace forebay::lock::mpiio {

// The MPI library converts: its own function is called at this etype while the layer holds a lock of the whole file,
// because the bytes that the library touches follow from sizes which only it knows.
MpiResult<uint64_t> access_converted(File& file, const Operation& operation, int64_t etype);

}  // namespace forebay::lock::mpiio
