// Hostile headers: what can be decoded is valid, encodes again, and can be merged or is refused.
#include <cstdlib>

#include "engine/pack/headers.h"

using namespace forebay;
using namespace forebay::engine;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kLimit = 16 << 20;
  const auto headers = decode_headers(std::as_bytes(std::span(data, size)), kLimit);
  if (!headers) return 0;
  if (!headers->catalogue.validate()) std::abort();
  const auto bytes = encode_headers(*headers);
  if (!bytes) std::abort();
  const auto again = decode_headers(*bytes, 4 * kLimit);
  if (!again || again->remarks != headers->remarks || again->catalogue.extents != headers->catalogue.extents)
    std::abort();
  std::vector<SourceFile> files;
  for (const FileRow& row : headers->catalogue.files) files.push_back({.path = row.name, .row = row});
  const auto merged = merge_headers({&*headers, 1}, files, {}, 4 * kLimit, 1);
  if (merged && merged->catalogue.extents != headers->catalogue.extents) std::abort();
  return 0;
}
