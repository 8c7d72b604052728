// Reads and writes of files that are the layer's.
#pragma once

#include <cstdint>
#include <optional>

#include <mpi.h>

#include "mpiio/mpi/file.h"

namespace forebay::lock::mpiio {

enum class Pointer : uint8_t { given, individual, shared, ordered };

// What the application asks for.
struct Operation {
  bool writes = false;
  bool collective = false;  // all processes take part, and may be waited for
  Pointer pointer = Pointer::given;
  MPI_Offset offset = 0;  // if the pointer is given
  void* buffer = nullptr;
  MPI_Count count = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
};

// Checks, moves the pointer, locks, moves the data and unlocks. Returns the bytes that were moved: at the end of the
// file fewer than asked. Pointers move by what was asked for (MPI 4.0, section 14.4.1).
MpiResult<uint64_t> perform(File& file, const Operation& operation);

}  // namespace forebay::lock::mpiio
