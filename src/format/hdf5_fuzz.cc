#include "format/fuzz.h"
#include "format/hdf5_reader.h"
#include "format/hdf5_values.h"

// Of each variable the chunks that the file has, inflated if they claim to be small.
static void check_values(const forebay::ByteSource& source) {
  using namespace forebay;
  constexpr uint64_t kMostChunk = 1 << 16;
  const auto layout = format::Hdf5Reader().read(source);
  const auto headers = format::DatasetHeaders::find(source);
  if (!layout || !headers) return;
  for (const Variable& variable : layout->variables) {
    const auto dataset = headers->read(source, variable.path);
    if (!dataset) continue;
    if (dataset->fill.size() != dataset->element_bytes) std::abort();
    for (const format::StoredChunk& chunk : dataset->chunks) {
      if (dataset->chunk_bytes() > kMostChunk || chunk.extent.length > source.size()) continue;
      Bytes stored(chunk.extent.length);
      if (!source.read_at(chunk.extent.offset, stored)) continue;
      const auto raw = format::hdf5::undo_filters(dataset->filters, chunk.mask, stored, dataset->chunk_bytes());
      if (raw && raw->size() != dataset->chunk_bytes()) std::abort();
    }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace forebay;
  const MemorySource source(std::as_bytes(std::span(data, size)));
  format::check_reader(format::Hdf5Reader(), source);
  format::check_attributes("hdf5", source);
  check_values(source);
  return 0;
}
