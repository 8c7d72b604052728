// The MPI library's file functions, called by the layer for itself.
#pragma once

#include <mpi.h>

namespace forebay::lock::mpiio {

// While it lives, errors of calls with `file` do not reach the application's error handler: the layer raises them
// itself.
class QuietErrors {
 public:
  explicit QuietErrors(MPI_File file) : file_(file) {
    PMPI_File_get_errhandler(file, &before_);
    PMPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
  }
  ~QuietErrors() {
    PMPI_File_set_errhandler(file_, before_);
    if (before_ != MPI_ERRORS_RETURN && before_ != MPI_ERRORS_ARE_FATAL) PMPI_Errhandler_free(&before_);
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  MPI_File file_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

}  // namespace forebay::lock::mpiio
