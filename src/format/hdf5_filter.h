// The filters that HDF5 sends a chunk through before it stores it, and their undoing. Pure; the bytes are hostile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/cursor.h"
#include "base/error.h"

namespace forebay::format::hdf5 {

struct Filter {
  uint16_t id = 0;               // as the HDF Group registered it
  std::string name;              // as the file calls it, or empty
  std::vector<uint32_t> values;  // the filter's parameters
};

// Decodes the message of a filter pipeline (section IV.A.2.l): the filters in the order in which they were applied;
// nothing if it is malformed.
std::optional<std::vector<Filter>> decode_filters(Cursor message);

// A filter that is undone beside those that this room knows: undo() makes of stored bytes what they were before it; it
// fails if that is not possible, or has more than `most` bytes.
struct OtherFilter {
  uint16_t id = 0;
  Result<Bytes> (*undo)(std::span<const std::byte> stored, uint64_t most) = nullptr;
};

// What a chunk of `raw_bytes` bytes was before `filters` made `stored` of it. Bit i of `mask` says that filter i was
// left out for this chunk. At no time are there more than `stored` and two buffers of about `raw_bytes` bytes. corrupt
// if the stored bytes are not those of `raw_bytes`, a checksum among them is wrong, or the parameters make no
// sense; unsupported, naming the filter, if neither this build nor `other` can undo it. Errors of other.undo(), whose
// working memory comes on top.
Result<Bytes> undo_filters(std::span<const Filter> filters, uint32_t mask, Bytes stored, uint64_t raw_bytes,
                           const OtherFilter& other = {});

}  // namespace forebay::format::hdf5
