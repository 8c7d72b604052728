// The input is the description; the file that it speaks of has a fixed size and all names that the corpus has.
#include "format/fuzz.h"
#include "format/raw_description.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace forebay;
  constexpr uint64_t kFileBytes = 10'000;
  const auto files = format::parse_raw_description(as_text(std::as_bytes(std::span(data, size))));
  if (!files) return 0;
  for (const format::RawFile& file : *files) {
    auto layout = format::lay_out_raw(file, kFileBytes);
    if (!layout) continue;
    normalise(*layout, kFileBytes);
    if (!format::find_fault(*layout, kFileBytes).empty()) std::abort();
  }
  format::find_raw_file(*files, "run/dump.0001");
  return 0;
}
