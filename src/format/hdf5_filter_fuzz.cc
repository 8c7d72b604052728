// Hostile chunks: a length of two bytes, so much of a filter pipeline's message, a mask, what the chunk should have
// (three bytes), and the chunk.
#include <cstdlib>

#include "format/hdf5_filter.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace forebay;
  forebay::Cursor input(std::as_bytes(std::span(data, size)));
  const auto message = input.bytes(input.u16());
  const uint32_t mask = input.u32();
  const uint64_t raw_bytes = input.number(3);
  const auto stored = input.bytes(input.remaining());
  if (!input.ok()) return 0;
  const auto filters = format::hdf5::decode_filters(forebay::Cursor(message));
  if (!filters) return 0;
  const auto raw = format::hdf5::undo_filters(*filters, mask, Bytes(stored.begin(), stored.end()), raw_bytes);
  if (raw && raw->size() != raw_bytes) std::abort();
  return 0;
}
