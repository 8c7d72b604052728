#include "lock/mpiio/mpi/fortran_arguments.h"

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

}  // namespace

void* buffer(void* address) {
  static const void* const bottom = variable("mpi_fortran_bottom", "MPI_FORTRAN_BOTTOM");
  return bottom && address == bottom ? MPI_BOTTOM : address;
}

bool ignored(const MPI_Fint* status) {
  static const void* const ignore = variable("mpi_fortran_status_ignore", "MPI_FORTRAN_STATUS_IGNORE");
  return !status || (ignore && status == ignore);
}

std::string text(const char* characters, int length) {
  const std::string all(characters, static_cast<size_t>(length > 0 ? length : 0));
  const size_t first = all.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : all.substr(first, all.find_last_not_of(' ') - first + 1);
}

}  // namespace forebay::lock::mpiio::fortran

#endif
