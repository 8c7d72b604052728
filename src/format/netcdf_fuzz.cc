#include "format/fuzz.h"
#include "format/netcdf_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace forebay;
  const MemorySource source(std::as_bytes(std::span(data, size)));
  format::check_reader(format::NetcdfReader(), source);
  format::check_attributes("netcdf", source);
  return 0;
}
