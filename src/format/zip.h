// The directory of a zip archive, as far as .npz needs it. (PKWARE's APPNOTE 6.3.10, with ZIP64.)
#pragma once

#include <string>
#include <vector>

#include "base/byte_source.h"

namespace forebay::format {

struct ZipMember {
  std::string name;
  uint64_t header = 0;  // where its local header is
  uint64_t size = 0;    // bytes as stored
  bool stored = false;  // neither compressed nor encrypted
};

// The name in the local header that `head`, the start of a file, begins with; empty if it begins with none.
std::string_view first_zip_member(std::span<const std::byte> head);

// The members that the central directory lists. corrupt if there is none or it is damaged; limit if it is too large.
Result<std::vector<ZipMember>> list_zip(const ByteSource& source);

// Where the bytes of `member` begin, all of which are inside the source. corrupt if its local header is damaged.
Result<uint64_t> find_zip_data(const ByteSource& source, const ZipMember& member);

}  // namespace forebay::format
