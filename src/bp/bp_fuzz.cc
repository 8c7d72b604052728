// Any bytes as a BP file: its indices, and where its blocks would lie.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "bp/place.h"

using namespace forebay;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const MemorySource source(std::as_bytes(std::span(data, size)));
  const auto index = bp::read_index(source, 1 << 20);
  if (!index) return 0;
  for (const bp::Variable& variable : index->variables)
    for (const bp::Entry& entry : variable.entries)
      for (const bool fortran : {false, true}) {
        const bp::Place place = bp::place_of(entry.dimensions, fortran, true);
        if (place.offsets.size() != place.global.size()) std::abort();
      }
  return 0;
}
