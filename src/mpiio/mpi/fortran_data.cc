// Data access from Fortran with Open MPI, by the entry points for C. Each function is found under every name that the
// library has for it (preload/trampolines.cc): those of mpif.h and `use mpi`, and those that `use mpi_f08` calls.
#include "mpiio/mpi/entry.h"
#include "mpiio/mpi/fortran_arguments.h"

#ifdef OPEN_MPI

#include <dlfcn.h>

namespace forebay::lock::mpiio::fortran {
namespace {

// A variable of the library's Fortran part, as the compiler that it was made for spells it.
const void* variable(const std::string& lower, const std::string& upper) {
  for (const std::string& name : {lower + "_", lower + "__", lower, upper})
    if (const void* found = dlsym(RTLD_DEFAULT, name.c_str())) return found;
  return nullptr;
}

// MPI_BOTTOM and MPI_STATUS_IGNORE are addresses of such variables.
void* buffer(void* address) {
  static const void* const bottom = variable("mpi_fortran_bottom", "MPI_FORTRAN_BOTTOM");
  return bottom && address == bottom ? MPI_BOTTOM : address;
}

bool ignored(const MPI_Fint* status) {
  static const void* const ignore = variable("mpi_fortran_status_ignore", "MPI_FORTRAN_STATUS_IGNORE");
  return !status || (ignore && status == ignore);
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

}  // namespace
}  // namespace forebay::lock::mpiio::fortran

using namespace forebay::lock::mpiio;

// clang-format off
#define FOREBAY_BLOCKING(name, TYPED, PLAIN)                                                                           \
  FOREBAY_ENTRY void mpi_file_##name##_(MPI_Fint* fh, TYPED void* buffer, MPI_Fint* count, MPI_Fint* datatype,         \
                                        MPI_Fint* status, MPI_Fint* error) {                                           \
    fortran::Status result(status);                                                                                    \
    fortran::give(error, MPI_File_##name(fortran::file(fh), PLAIN fortran::buffer(buffer), *count,                     \
                                         fortran::type(datatype), result));                                            \
  }
#define FOREBAY_NONBLOCKING(name, TYPED, PLAIN)                                                                        \
  FOREBAY_ENTRY void mpi_file_##name##_(MPI_Fint* fh, TYPED void* buffer, MPI_Fint* count, MPI_Fint* datatype,         \
                                        MPI_Fint* request, MPI_Fint* error) {                                          \
    MPI_Request started = MPI_REQUEST_NULL;                                                                            \
    fortran::give(error, MPI_File_##name(fortran::file(fh), PLAIN fortran::buffer(buffer), *count,                     \
                                         fortran::type(datatype), &started));                                          \
    *request = PMPI_Request_c2f(started);                                                                              \
  }
#define FOREBAY_SPLIT(name, TYPED, PLAIN)                                                                              \
  FOREBAY_ENTRY void mpi_file_##name##_begin_(MPI_Fint* fh, TYPED void* buffer, MPI_Fint* count, MPI_Fint* datatype,   \
                                              MPI_Fint* error) {                                                       \
    fortran::give(error, MPI_File_##name##_begin(fortran::file(fh), PLAIN fortran::buffer(buffer), *count,             \
                                                 fortran::type(datatype)));                                            \
  }                                                                                                                    \
  FOREBAY_ENTRY void mpi_file_##name##_end_(MPI_Fint* fh, void* buffer, MPI_Fint* status, MPI_Fint* error) {           \
    fortran::Status result(status);                                                                                    \
    fortran::give(error, MPI_File_##name##_end(fortran::file(fh), fortran::buffer(buffer), result));                   \
  }
#define FOREBAY_AT(FORM, name) FORM(name, FOREBAY_OFFSET_TYPED, FOREBAY_OFFSET)
#define FOREBAY_BY(FORM, name) FORM(name, , )
#define FOREBAY_OFFSET_TYPED MPI_Offset* offset,
#define FOREBAY_OFFSET *offset,

#define FOREBAY_ALL(verb)                          \
  FOREBAY_AT(FOREBAY_BLOCKING, verb##_at)          \
  FOREBAY_AT(FOREBAY_BLOCKING, verb##_at_all)      \
  FOREBAY_BY(FOREBAY_BLOCKING, verb)               \
  FOREBAY_BY(FOREBAY_BLOCKING, verb##_all)         \
  FOREBAY_BY(FOREBAY_BLOCKING, verb##_shared)      \
  FOREBAY_BY(FOREBAY_BLOCKING, verb##_ordered)     \
  FOREBAY_AT(FOREBAY_NONBLOCKING, i##verb##_at)    \
  FOREBAY_AT(FOREBAY_NONBLOCKING, i##verb##_at_all) \
  FOREBAY_BY(FOREBAY_NONBLOCKING, i##verb)         \
  FOREBAY_BY(FOREBAY_NONBLOCKING, i##verb##_all)   \
  FOREBAY_BY(FOREBAY_NONBLOCKING, i##verb##_shared) \
  FOREBAY_AT(FOREBAY_SPLIT, verb##_at_all)         \
  FOREBAY_BY(FOREBAY_SPLIT, verb##_all)            \
  FOREBAY_BY(FOREBAY_SPLIT, verb##_ordered)

FOREBAY_ALL(read)
FOREBAY_ALL(write)
// clang-format on

#endif
