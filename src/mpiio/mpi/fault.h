// Errors as MPI sees them: a class, a code that carries a text, and the error handler of the file.
#pragma once

#include <expected>
#include <string>

#include <mpi.h>

#include "base/error.h"

namespace forebay::lock::mpiio {

struct Fault {
  Fault(int mpi_class, std::string message) : error_class(mpi_class), text(std::move(message)) {}
  Fault(const Error& error);  // implicit: results of other rooms are passed on as they are

  int error_class;
  std::string text;
};

// `error` with the file named where it is not.
inline std::unexpected<Fault> fault_in(Error error, const std::string& path) {
  if (error.path.empty()) error.path = path;
  return std::unexpected(Fault(error));
}

template <class T>
using MpiResult = std::expected<T, Fault>;

inline std::unexpected<Fault> mpi_fail(int error_class, std::string text) {
  return std::unexpected(Fault(error_class, std::move(text)));
}

// Fails if `code`, the result of the MPI function `call` of the layer's own use, is an error.
MpiResult<void> mpi_checked(int code, const char* call);

// An error code of the fault's class with its text. The texts that are remembered are bounded: a text that came before
// has the code that it had, and when there are too many the bare class is given.
int code_of(const Fault& fault);

// The same, and the error handler of `file` is called with it. Returns the code.
int raise(MPI_File file, const Fault& fault);

}  // namespace forebay::lock::mpiio
