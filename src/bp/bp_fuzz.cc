// Any bytes as a BP file: its indices, and where its blocks would lie.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "bp/place.h"
#include "bp/transform.h"

using namespace forebay;

// What an entry says that its block was, if that is little.
static void undo(const ByteSource& source, const bp::Entry& entry, bool big_endian) {
  constexpr uint64_t kMost = 1 << 16;
  uint64_t bytes = bp::element_bytes(entry.type);
  for (const bp::Dimension& dimension : entry.dimensions)
    if (__builtin_mul_overflow(bytes, dimension.local, &bytes)) return;
  if (!bp::changes_bytes(entry.transform) || bytes > kMost || entry.stored_bytes > kMost) return;
  Bytes stored(entry.stored_bytes), raw(bytes);
  if (entry.payload > source.size() || stored.size() > source.size() - entry.payload) return;
  if (source.read_at(entry.payload, stored)) (void)bp::undo_transform(entry, big_endian, stored, raw, source.name());
}

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
  for (const bp::Variable& variable : index->variables)
    for (const bp::Entry& entry : variable.entries) undo(source, entry, index->footer.big_endian);
  return 0;
}
