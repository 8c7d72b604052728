// The payload of an index record: eight bytes of the directory's length, then the directory and the contents. What can
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
  const uint64_t directory_bytes = load_le<uint64_t>(bytes.data());
  const Bytes payload(bytes.begin() + 8, bytes.end());  // aligned as a record's payload is
  const IndexMeta meta{directory_bytes, payload.size() - directory_bytes};
  if (const auto unfolded = decode_index(meta, payload, UINT64_MAX);
      !unfolded && unfolded.error().kind == ErrorKind::limit)
    std::abort();  // it is bounded by its own size, and not by the budget
  const auto index = decode_index(meta, payload, kLimit);
  if (!index) return 0;
  if (!index->directory.validate()) std::abort();
  const auto directory = encode_directory(index->directory, index->plan);
  const auto contents = encode_contents(*index, facts_of(index->directory));
  if (!directory || !contents) std::abort();
  Bytes again = *directory;
  again.insert(again.end(), contents->begin(), contents->end());
  const auto second = decode_index({directory->size(), contents->size()}, again, 4 * kLimit);
  if (!second || second->directory.extents != index->directory.extents || second->frames.size() != index->frames.size())
    std::abort();
  return 0;
}
