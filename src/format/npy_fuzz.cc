#include "format/fuzz.h"
#include "format/npy_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace forebay;
  const MemorySource source(std::as_bytes(std::span(data, size)));
  format::check_reader(format::NpyReader(), source);
  format::check_reader(format::NpzReader(), source);
  return 0;
}
