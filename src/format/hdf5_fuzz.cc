#include "format/fuzz.h"
#include "format/hdf5_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace forebay;
  const MemorySource source(std::as_bytes(std::span(data, size)));
  format::check_reader(format::Hdf5Reader(), source);
  format::check_attributes("hdf5", source);
  return 0;
}
