// Arguments of Fortran calls as C has them.
#pragma once

#include <string>

#include <mpi.h>

namespace forebay::lock::mpiio::fortran {

inline MPI_File file(const MPI_Fint* handle) { return PMPI_File_f2c(*handle); }
inline MPI_Datatype type(const MPI_Fint* handle) { return PMPI_Type_f2c(*handle); }
inline MPI_Info info(const MPI_Fint* handle) { return PMPI_Info_f2c(*handle); }

// Without the blanks around it, as the libraries do.
std::string text(const char* characters, int length);

// The other way round, cut where there is no room.
void blank_padded(const std::string& text, char* characters, int length);

inline bool logical(const MPI_Fint* value) { return *value != 0; }

// mpi_f08 leaves the error out where it is optional.
inline void give(MPI_Fint* error, int code) {
  if (error) *error = code;
}

}  // namespace forebay::lock::mpiio::fortran
