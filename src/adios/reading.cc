// What programs that write ask of the reading interface.
#include <adios_query.h>
#include <adios_read.h>

#include "adios/report.h"

namespace forebay::adios {
namespace {

io::Outcome<void> check_read_method(ADIOS_READ_METHOD method) {
  if (method == ADIOS_READ_METHOD_BP || method == ADIOS_READ_METHOD_BP_AGGREGATE) return {};
  return io::refuse(static_cast<io::Code>(err_invalid_read_method),
                    "there is no way of reading with the number " + std::to_string(method),
                    "files are read with ADIOS_READ_METHOD_BP");
}

}  // namespace
}  // namespace forebay::adios

using namespace forebay::adios;

extern "C" {

int adios_read_init_method(ADIOS_READ_METHOD method, MPI_Comm, const char*) {
  return guarded([&] { return check_read_method(method); });
}

int adios_read_finalize_method(ADIOS_READ_METHOD method) {
  return guarded([&] { return check_read_method(method); });
}

int adios_query_is_method_available(ADIOS_QUERY_METHOD) { return 0; }
}
