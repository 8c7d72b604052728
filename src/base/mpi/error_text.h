// MPI's errors in words. For code that is compiled with an MPI, once for each.
#pragma once

#include <string>

#include <mpi.h>

namespace forebay {

// Of `code`, which the MPI function `call` has returned.
inline std::string mpi_error_text(int code, const char* call) {
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(code, words, &length);
  return std::string(call) + ": " + words;
}

}  // namespace forebay
