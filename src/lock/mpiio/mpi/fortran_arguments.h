// Arguments of Fortran calls as C has them. For Open MPI, whose Fortran functions do not go through the C functions
// that the layer intercepts. (MPICH's do.)
#pragma once

#include <string>

#include <mpi.h>

namespace forebay::lock::mpiio::fortran {

// MPI_BOTTOM and MPI_STATUS_IGNORE are addresses of variables in the library's Fortran part.
void* buffer(void* address);
bool ignored(const MPI_Fint* status);

inline MPI_File file(const MPI_Fint* handle) { return PMPI_File_f2c(*handle); }
inline MPI_Datatype type(const MPI_Fint* handle) { return PMPI_Type_f2c(*handle); }
inline MPI_Info info(const MPI_Fint* handle) { return PMPI_Info_f2c(*handle); }

// Without the blanks around it, as Open MPI does.
std::string text(const char* characters, int length);

inline bool logical(const MPI_Fint* value) { return *value != 0; }

// mpi_f08 leaves the error out where it is optional.
inline void give(MPI_Fint* error, int code) {
  if (error) *error = code;
}

// Room for a status, handed over at the end.
class Status {
 public:
  explicit Status(MPI_Fint* fortran) : fortran_(fortran), ignored_(ignored(fortran)) {}
  ~Status() {
    if (!ignored_) PMPI_Status_c2f(&status_, fortran_);
  }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  operator MPI_Status*() { return ignored_ ? MPI_STATUS_IGNORE : &status_; }

 private:
  MPI_Fint* fortran_;
  bool ignored_;
  MPI_Status status_{};
};

}  // namespace forebay::lock::mpiio::fortran
