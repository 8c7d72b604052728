// MPI datatypes as patterns.
#pragma once

#include <mpi.h>

#include "base/error.h"
#include "mpiio/pattern.h"

namespace forebay::lock::mpiio {

// The bytes of `datatype`: every combiner, nested to any depth, pair types with their holes, resized types with their
// lower bounds, large-count forms (MPI 4) where the MPI has them. A pattern that was made is remembered as an attribute
// of the datatype, so that it goes with it. Thread-safe as far as MPI was initialised for it. invalid_argument for
// MPI_DATATYPE_NULL; unsupported, with the combiner's number, for one that no version of MPI up to 4.1 defines; io if
// an MPI call fails.
Result<Pattern> flatten(MPI_Datatype datatype);

// Whether `datatype` is committed. MPI has no call to ask that, so a datatype is tried once, by packing nothing of it
// in `comm`, whose error handler has to return; that it is committed is remembered as its pattern is. Thread-safe
// likewise.
bool committed(MPI_Datatype datatype, MPI_Comm comm);

}  // namespace forebay::lock::mpiio
