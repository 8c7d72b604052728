// The payload of an index record: eight bytes of the catalogue's length, then the catalogue and the contents. What can
// be decoded must be valid and encode again.
#include <cstdlib>

#include "base/bytes.h"
#include "container/index_codec.h"

using namespace forebay;
using namespace forebay::container;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kLimit = 16 << 20;
  if (size < 8) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  const uint64_t catalogue_bytes = load_le<uint64_t>(bytes.data());
  const Bytes payload(bytes.begin() + 8, bytes.end());  // aligned as a record's payload is
  const IndexMeta meta{catalogue_bytes, payload.size() - catalogue_bytes};
  if (const auto unfolded = decode_index(meta, payload, UINT64_MAX);
      !unfolded && unfolded.error().kind == ErrorKind::limit)
    std::abort();  // it is bounded by its own size, and not by the budget
  const auto index = decode_index(meta, payload, kLimit);
  if (!index) return 0;
  if (!index->catalogue.validate()) std::abort();
  const auto catalogue = encode_catalogue(index->catalogue, index->plan, index->part);
  const auto contents = encode_contents(*index, facts_of(index->catalogue));
  if (!catalogue || !contents) std::abort();
  Bytes again = *catalogue;
  again.insert(again.end(), contents->begin(), contents->end());
  const auto second = decode_index({catalogue->size(), contents->size()}, again, 4 * kLimit);
  if (!second || second->catalogue.extents != index->catalogue.extents ||
      second->frames.size() != index->frames.size() || second->catalogue.globals != index->catalogue.globals ||
      second->catalogue.with_meanings != index->catalogue.with_meanings || second->part != index->part)
    std::abort();
  return 0;
}
