// The layer's hints in MPI_Info objects.
#pragma once

#include <mpi.h>

#include "mpiio/settings.h"

namespace forebay::lock::mpiio {

// `info` may be MPI_INFO_NULL.
Settings with_hints(const Settings& settings, MPI_Info info);

// Adds the settings to what the application sees, and forebay_version, by which it can tell that the layer is there.
void show_hints(const Settings& settings, MPI_Info info);

}  // namespace forebay::lock::mpiio
