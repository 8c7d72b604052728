// A whole file's bytes: opened, walked, every frame read, and recovered.
#include <memory>

#include "container/container.h"

using namespace forebay;
using namespace forebay::container;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kLimit = 16 << 20;
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto reader = Reader::open(std::make_unique<MemorySource>(bytes), kLimit)) {
    (void)(*reader)->verify_structure();
    for (uint32_t number = 0; number < (*reader)->index().frames.size() && number < 1000; ++number)
      (void)(*reader)->read(number);
  }
  const auto sizes = [](const Directory& directory, const PlanSpec&) -> Result<std::vector<uint64_t>> {
    return std::vector<uint64_t>(directory.files.size(), 1000);
  };
  const MemorySource source(bytes);
  if (const auto recovered = recover(source, kLimit, sizes))
    for (uint32_t number = 0; number < recovered->index.frames.size() && number < 1000; ++number)
      (void)read_frame(source, recovered->index, number);
  return 0;
}
