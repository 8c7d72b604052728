#include "mpiio/mpi/fault.h"

#include <map>
#include <mutex>

#include "base/mpi/error_text.h"

#ifdef MPICH
// How ROMIO makes its own codes. MPICH forgets the string of MPI_Add_error_string if the class is a predefined one
// (4.0.2); other libraries with its binary interface may lack this function.
extern "C" int MPIR_Err_create_code(int last_code, int fatal, const char function[], int line, int error_class,
                                    const char generic[], const char specific[], ...) __attribute__((weak));
#endif

namespace forebay::lock::mpiio {
namespace {

int class_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return MPI_ERR_ARG;
    case ErrorKind::not_found:
      return MPI_ERR_NO_SUCH_FILE;
    case ErrorKind::exists:
      return MPI_ERR_FILE_EXISTS;
    case ErrorKind::permission:
      return MPI_ERR_ACCESS;
    case ErrorKind::no_space:
      return MPI_ERR_NO_SPACE;
    case ErrorKind::unsupported:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    case ErrorKind::internal:
      return MPI_ERR_INTERN;
    default:
      return MPI_ERR_IO;
  }
}

#ifdef MPICH
int make_code(const Fault& fault) {
  if (!MPIR_Err_create_code) return fault.error_class;
  // "**io" is in the library's catalogue as "Other I/O error"; the class is given beside it.
  return MPIR_Err_create_code(MPI_SUCCESS, 0, "forebay", __LINE__, fault.error_class, "**io", "**io %s",
                              fault.text.c_str());
}
#else
int make_code(const Fault& fault) {
  constexpr size_t kMostTexts = 256;  // codes are never given back
  static auto& codes = *new std::map<std::pair<int, std::string>, int>;
  static std::mutex mutex;
  const std::lock_guard guard(mutex);
  const auto known = codes.find({fault.error_class, fault.text});
  if (known != codes.end()) return known->second;
  int code = 0;
  if (codes.size() >= kMostTexts || PMPI_Add_error_code(fault.error_class, &code) != MPI_SUCCESS)
    return fault.error_class;
  PMPI_Add_error_string(code, fault.text.substr(0, MPI_MAX_ERROR_STRING - 1).c_str());
  codes.emplace(std::pair(fault.error_class, fault.text), code);
  return code;
}
#endif

}  // namespace

Fault::Fault(const Error& error) : error_class(class_of(error.kind)), text(error.message()) {}

MpiResult<void> mpi_checked(int code, const char* call) {
  if (code == MPI_SUCCESS) return {};
  int error_class = MPI_ERR_OTHER;
  PMPI_Error_class(code, &error_class);
  return mpi_fail(error_class, mpi_error_text(code, call));
}

int code_of(const Fault& fault) { return make_code(Fault(fault.error_class, "forebay: " + fault.text)); }

int raise(MPI_File file, const Fault& fault) {
  const int code = code_of(fault);
  PMPI_File_call_errhandler(file, code);
  return code;
}

}  // namespace forebay::lock::mpiio
